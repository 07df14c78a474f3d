"""``python -m gptviz`` is the ``gptviz`` command."""

import sys

from gptviz.cli import main

sys.exit(main())
