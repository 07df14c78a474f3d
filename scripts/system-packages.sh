#!/bin/sh
# Makes sure that the libraries are there which Qt loads from the system, and that python3 can make a virtual
# environment. Does and prints nothing if nothing is missing. --with-xvfb adds what the end-to-end tests need.
set -eu

# What the Qt libraries that gptviz loads name as NEEDED, and the Debian package of each.
# In the second half: what Qt's plugin for X11 (platforms/libqxcb.so) needs on top of that.
LIBRARIES='
libEGL.so.1             libegl1
libGL.so.1              libgl1
libX11.so.6             libx11-6
libdbus-1.so.3          libdbus-1-3
libfontconfig.so.1      libfontconfig1
libfreetype.so.6        libfreetype6
libglib-2.0.so.0        libglib2.0-0
libgthread-2.0.so.0     libglib2.0-0
libxkbcommon.so.0       libxkbcommon0
libz.so.1               zlib1g
libzstd.so.1            libzstd1

libX11-xcb.so.1         libx11-xcb1
libxcb.so.1             libxcb1
libxcb-cursor.so.0      libxcb-cursor0
libxcb-icccm.so.4       libxcb-icccm4
libxcb-image.so.0       libxcb-image0
libxcb-keysyms.so.1     libxcb-keysyms1
libxcb-randr.so.0       libxcb-randr0
libxcb-render.so.0      libxcb-render0
libxcb-render-util.so.0 libxcb-render-util0
libxcb-shape.so.0       libxcb-shape0
libxcb-shm.so.0         libxcb-shm0
libxcb-sync.so.1        libxcb-sync1
libxcb-util.so.1        libxcb-util1
libxcb-xfixes.so.0      libxcb-xfixes0
libxcb-xkb.so.1         libxcb-xkb1
libxkbcommon-x11.so.0   libxkbcommon-x11-0
'

fail() {
    echo "gptviz: $1" >&2
    exit 1
}

with_xvfb=no
case "$*" in
    '') ;;
    --with-xvfb) with_xvfb=yes ;;
    *) fail "unknown argument '$*': the only one is --with-xvfb" ;;
esac
[ "$(uname -s)" = Linux ] || exit 0

missing= # what is not there
packages= # what brings it

want() {
    missing="$missing $1"
    case " $packages " in
        *" $2 "*) ;;
        *) packages="$packages $2" ;;
    esac
}

# Debian leaves the folder of ldconfig out of a user's PATH.
known=$(PATH=$PATH:/usr/sbin:/sbin && ldconfig -p 2>/dev/null) || known=
if [ -n "$known" ]; then # else there is no telling, and the import of Qt says what is missing
    present=" $(printf "%s\n" "$known" | sed -n 's/^[[:space:]]*\([^ ]*\) (.*/\1/p' | tr '\n' ' ') "
    while read -r library package; do
        case "$present" in
            *" $library "*) ;;
            *) [ -z "$library" ] || want "$library" "$package" ;;
        esac
    done <<EOF
$LIBRARIES
EOF
fi
python3 -c 'import ensurepip, venv' 2>/dev/null || want "Python's venv" python3-venv
if [ "$with_xvfb" = yes ]; then
    command -v Xvfb >/dev/null || want Xvfb xvfb
    command -v xdotool >/dev/null || want xdotool xdotool
fi
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null ||
    fail "install these with your system's package manager, then try again:$missing"
by_hand="apt-get update && apt-get install -y --no-install-recommends$packages"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    fail "system packages are missing; as root, run: $by_hand"
fi
echo "gptviz: installing system packages:$packages"
# An update that fails, say for a source that is of no use here, need not keep the packages from being found.
$as_root apt-get -qq update || true
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $packages >/dev/null ||
    fail "system packages are missing and could not be installed; as root, run: $by_hand"
