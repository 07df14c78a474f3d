"""The application's palette and style sheet, made from a theme."""

from PySide6.QtGui import QColor, QPalette

from gptviz.widgets.theme import MONO_FAMILY, TEXT_FAMILY, Theme, blend, px


def palette(theme: Theme) -> QPalette:
    """Return the palette of ``theme``; widgets tell the theme from it."""
    result = QPalette()
    role = QPalette.ColorRole
    for which, value in (
        (role.Window, theme.window),
        (role.WindowText, theme.text),
        (role.Base, theme.panel),
        (role.AlternateBase, theme.raised),
        (role.Text, theme.text),
        (role.PlaceholderText, theme.muted),
        (role.Button, theme.panel),
        (role.ButtonText, theme.text),
        (role.BrightText, theme.on_accent),
        (role.ToolTipBase, theme.panel),
        (role.ToolTipText, theme.text),
        (role.Highlight, theme.accent),
        (role.HighlightedText, theme.on_accent),
        (role.Link, theme.accent),
        (role.Accent, theme.accent),
        (role.Light, theme.raised),
        (role.Midlight, theme.raised),
        (role.Mid, theme.hairline),
        (role.Dark, theme.hairline),
        (role.Shadow, theme.hairline),
    ):
        result.setColor(which, QColor(value))
    for which in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, which, blend(theme.muted, theme.window, 0.6))
    return result


def style_sheet(theme: Theme) -> str:
    """Return the style sheet of ``theme`` at the present scale."""
    soft = blend(theme.accent, theme.panel, 0.16).name()
    hover = blend(theme.text, theme.panel, 0.06).name()
    disabled = blend(theme.muted, theme.window, 0.6).name()
    right = blend(theme.families["feed-forward"], theme.panel, 0.14).name()
    control = blend(theme.muted, theme.hairline, 0.25).name()
    return f"""
* {{ font-family: "{TEXT_FAMILY}"; font-size: {px(13)}px; }}
QMainWindow, QDialog {{ background: {theme.window}; }}
QMainWindow::separator {{ background: {theme.window}; width: {px(6)}px; height: {px(6)}px; }}
QMainWindow::separator:hover {{ background: {soft}; }}
QToolTip {{ background: {theme.panel}; color: {theme.text}; border: 1px solid {control};
    padding: {px(4)}px {px(8)}px; font-size: {px(12)}px; }}

QMenuBar {{ background: {theme.window}; padding: {px(2)}px {px(8)}px; spacing: 0; }}
QMenuBar::item {{ padding: {px(4)}px {px(8)}px; border-radius: {px(4)}px; color: {theme.muted}; }}
QMenuBar::item:selected {{ background: {hover}; color: {theme.text}; }}
QMenu {{ background: {theme.panel}; border: 1px solid {control}; padding: {px(4)}px; }}
QMenu::item {{ padding: {px(5)}px {px(24)}px {px(5)}px {px(24)}px; border-radius: {px(4)}px; }}
QMenu::item:selected {{ background: {soft}; color: {theme.text}; }}
QMenu::item:disabled {{ color: {disabled}; }}
QMenu::separator {{ height: 1px; background: {theme.hairline}; margin: {px(4)}px {px(8)}px; }}

QToolBar {{ border: none; padding: 0; spacing: 0; }}
#header {{ background: {theme.window}; border-bottom: 1px solid {theme.hairline}; }}
#paneBody, #paneBody > QWidget > QWidget {{ background: {theme.panel}; }}
#dockTitle {{ background: {theme.panel}; border-bottom: 1px solid {theme.hairline}; }}
#dockTitle QLabel {{ font-weight: 600; font-size: {px(13)}px; }}
#sideColumn, #sideColumn > QWidget, #sideColumn > QWidget > QWidget {{ background: {theme.panel}; }}
QDockWidget {{ border: 1px solid {theme.hairline}; }}
QTabBar {{ background: {theme.window}; qproperty-drawBase: 0; }}
QTabBar::tab {{ background: transparent; color: {theme.muted}; padding: {px(7)}px {px(9)}px; border: none;
    border-bottom: 2px solid transparent; font-weight: 500; }}
QTabBar::tab:selected {{ color: {theme.text}; border-bottom: 2px solid {theme.accent}; }}
QTabBar::tab:hover {{ color: {theme.text}; }}
QTabBar QToolButton {{ border: none; background: {theme.window}; padding: 0; min-height: 0; }}
QTabBar QToolButton:hover {{ background: {hover}; }}

QLabel#paneHeading {{ font-family: "{MONO_FAMILY}"; font-size: {px(13)}px; font-weight: 600; }}
QLabel#rowTitle {{ font-weight: 600; }}
QLabel#choice {{ font-family: "{MONO_FAMILY}"; font-size: {px(22)}px; color: {theme.families["head"]}; }}
QLabel#readout {{ font-family: "{MONO_FAMILY}"; font-size: {px(12)}px; }}
QFrame#hairline {{ background: {theme.hairline}; border: none; }}
QLabel#labQuestion {{ font-weight: 600; font-size: {px(16)}px; }}
QLabel#verdict {{ font-weight: 600; font-size: {px(14)}px; }}
QLabel#verdict[tone="good"] {{ color: {theme.families["feed-forward"]}; }}
QLabel#verdict[tone="bad"] {{ color: {theme.error}; }}
QLabel#verdict[tone="odd"] {{ color: {theme.warning}; }}
QLabel#torchError {{ font-family: "{MONO_FAMILY}"; font-size: {px(12)}px; background: {theme.window};
    border-left: 3px solid {theme.error}; padding: {px(6)}px {px(8)}px; }}
QLabel#figure {{ font-family: "{MONO_FAMILY}"; font-size: {px(20)}px; }}
QLabel#slidePrompt {{ font-family: "{MONO_FAMILY}"; font-size: {px(28)}px; }}
QLabel#slidePrompt[long="true"] {{ font-size: {px(18)}px; }}
QLabel#caption {{ color: {theme.muted}; font-size: {px(12)}px; font-weight: 500; }}
QLabel#fieldMessage {{ color: {theme.error}; font-size: {px(12)}px; }}
QLabel#muted {{ color: {theme.muted}; font-size: {px(12)}px; }}
QLabel#muted[wrong="true"] {{ color: {theme.error}; font-weight: 600; }}
QLabel#count {{ font-family: "{MONO_FAMILY}"; font-size: {px(12)}px; color: {theme.muted}; }}
QLabel#count[over="true"] {{ color: {theme.error}; }}
QLabel#problem {{ color: {theme.error}; font-size: {px(12)}px; }}
QLabel#notice {{ color: {theme.warning}; font-size: {px(12)}px; }}

QPushButton, QToolButton {{ background: {theme.panel}; color: {theme.text}; border: 1px solid {control};
    border-radius: {px(5)}px; padding: {px(4)}px {px(12)}px; min-height: {px(20)}px; }}
QPushButton:hover, QToolButton:hover {{ background: {hover}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {soft}; }}
QPushButton:focus, QToolButton:focus {{ border: 1px solid {theme.accent}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {disabled}; border-color: {theme.hairline}; }}
QPushButton#primary {{ background: {theme.accent}; color: {theme.on_accent}; border: 1px solid {theme.accent};
    font-weight: 600; }}
QPushButton#primary:hover {{ background: {blend(theme.accent, theme.text, 0.85).name()}; }}
QPushButton#primary:focus {{ border: 2px solid {theme.text}; padding: {px(3)}px {px(11)}px; }}
QPushButton#primary:disabled {{ background: {theme.raised}; color: {disabled}; border-color: {theme.raised}; }}
QPushButton#reset {{ background: transparent; color: {theme.muted}; font-size: {px(12)}px;
    padding: {px(3)}px {px(10)}px; }}
QPushButton#reset:hover {{ background: {hover}; color: {theme.text}; }}
QToolButton#flat {{ background: transparent; border: 1px solid transparent; padding: {px(4)}px {px(6)}px; }}
QToolButton#flat:hover {{ background: {hover}; }}
QToolButton#flat:focus {{ border: 1px solid {theme.accent}; }}
QToolButton#inRow {{ background: transparent; border: 1px solid transparent; padding: 0; min-height: 0; }}
QToolButton#inRow:hover {{ background: {hover}; }}
QToolButton#inRow:focus {{ border: 1px solid {theme.accent}; }}
QToolButton#tag {{ background: {theme.panel}; border: 1px solid {theme.accent}; color: {theme.accent};
    font-size: {px(12)}px; padding: {px(1)}px {px(8)}px; min-height: {px(18)}px; border-radius: {px(5)}px; }}
QToolButton#tag:hover {{ background: {theme.accent}; color: {theme.on_accent}; }}
QToolButton#link {{ background: transparent; border: 1px solid transparent; color: {theme.accent};
    font-size: {px(12)}px; padding: 0 {px(2)}px; min-height: {px(18)}px; border-radius: {px(3)}px; }}
QToolButton#link:hover {{ text-decoration: underline; }}
QToolButton#link:focus {{ border: 1px solid {theme.accent}; }}
QStatusBar QToolButton#flat {{ color: {theme.muted}; font-size: {px(12)}px; padding: 0 {px(6)}px; }}
QStatusBar QToolButton#flat[broken="true"] {{ color: {theme.error}; font-weight: 600; }}
QComboBox {{ background: {theme.panel}; color: {theme.text}; border: 1px solid {control};
    border-radius: {px(5)}px; padding: {px(2)}px {px(8)}px; font-size: {px(12)}px; min-height: {px(20)}px; }}
QComboBox:focus {{ border: 1px solid {theme.accent}; }}
QComboBox::drop-down {{ border: none; width: {px(14)}px; }}
QComboBox QAbstractItemView {{ background: {theme.panel}; border: 1px solid {control}; outline: none; }}
QSlider::groove:horizontal {{ background: {theme.raised}; border: none; height: {px(4)}px; border-radius: {px(2)}px; }}
QSlider::add-page:horizontal {{ background: {theme.raised}; border-radius: {px(2)}px; }}
QSlider::sub-page:horizontal {{ background: {theme.accent}; border-radius: {px(2)}px; }}
QSlider::handle:horizontal {{ background: {theme.accent}; width: {px(12)}px; margin: -{px(4)}px 0;
    border-radius: {px(6)}px; }}
QSlider::handle:horizontal:focus {{ background: {theme.text}; }}
QSlider::handle:horizontal:disabled, QSlider::sub-page:horizontal:disabled {{ background: {control}; }}
QToolButton::menu-indicator {{ image: none; }}
QPushButton#segment {{ border-radius: 0; padding: {px(3)}px {px(10)}px; font-size: {px(12)}px; color: {theme.muted};
    margin-left: -1px; }}
QPushButton#segment[place="first"] {{ border-top-left-radius: {px(5)}px; border-bottom-left-radius: {px(5)}px;
    margin-left: 0; }}
QPushButton#segment[place="last"] {{ border-top-right-radius: {px(5)}px; border-bottom-right-radius: {px(5)}px; }}
QPushButton#toggle {{ padding: {px(3)}px {px(10)}px; font-size: {px(12)}px; color: {theme.muted}; }}
QPushButton#segment:checked, QPushButton#toggle:checked {{
    background: {soft}; color: {theme.text}; border: 1px solid {theme.accent}; }}

QPlainTextEdit, QLineEdit, QSpinBox {{ background: {theme.panel}; color: {theme.text};
    border: 1px solid {control}; border-radius: {px(5)}px; padding: {px(3)}px {px(8)}px;
    selection-background-color: {theme.accent}; selection-color: {theme.on_accent}; }}
QFileDialog QToolButton {{ padding: {px(2)}px; }}
QLineEdit QToolButton {{ background: transparent; border: none; padding: 0; min-height: 0; }}
QPlainTextEdit:focus, QLineEdit:focus, QSpinBox:focus {{ border: 1px solid {theme.accent}; }}
QLineEdit#number {{ font-family: "{MONO_FAMILY}"; font-size: {px(12)}px; min-height: {px(20)}px; }}
QLineEdit#cell {{ font-family: "{MONO_FAMILY}"; font-size: {px(12)}px; padding: 0 {px(3)}px;
    border-radius: {px(3)}px; }}
QLineEdit[refused="true"], QLineEdit[refused="true"]:focus {{ border: 1px solid {theme.error}; }}
QPlainTextEdit#prompt {{ font-size: {px(14)}px; padding: 0 {px(4)}px; }}
QPlainTextEdit#generated {{ background: {theme.window}; border: 1px solid {theme.hairline}; font-size: {px(13)}px; }}
QSpinBox {{ font-size: {px(12)}px; min-height: {px(20)}px; padding: {px(3)}px {px(4)}px; }}
QSpinBox QLineEdit {{ border: none; padding: 0; background: transparent; font-size: {px(12)}px; }}
QSpinBox::up-button, QSpinBox::down-button {{ width: 0; height: 0; border: none; }}
QSpinBox#stepper {{ border-radius: 0; border-left: none; border-right: none; padding: {px(3)}px 0; }}
QSpinBox#stepper:focus {{ border: 1px solid {theme.accent}; }}
QToolButton#stepperButton {{ padding: {px(3)}px {px(2)}px; border-radius: 0; }}
QToolButton#stepperButton[place="first"] {{ border-top-left-radius: {px(5)}px; border-bottom-left-radius: {px(5)}px; }}
QToolButton#stepperButton[place="last"] {{ border-top-right-radius: {px(5)}px; border-bottom-right-radius: {px(5)}px; }}

QTreeView, QTableView {{ background: {theme.panel}; border: none; outline: none; }}
QTreeView::item, QTableView::item {{ height: {px(22)}px; padding: 0 {px(4)}px; border: none; }}
QTreeView#stages::item {{ padding: 0 {px(2)}px; }}
QTreeView::item:hover, QTableView::item:hover {{ background: {hover}; }}
QTreeView::item:selected, QTableView::item:selected {{ background: {soft}; color: {theme.text}; }}
QHeaderView {{ background: {theme.panel}; }}
QHeaderView::section {{ background: {theme.panel}; color: {theme.muted}; border: none;
    border-bottom: 1px solid {theme.hairline}; padding: {px(4)}px {px(6)}px; font-size: {px(11)}px; }}
QTreeView#stages QHeaderView::section {{ padding: {px(4)}px {px(4)}px; }}
QHeaderView::section:vertical {{ border: none; font-size: {px(12)}px; padding: 0; }}
QTableCornerButton::section {{ background: {theme.panel}; border: none;
    border-bottom: 1px solid {theme.hairline}; }}
QSplitter::handle {{ background: transparent; }}

QScrollBar:vertical {{ background: transparent; width: {px(10)}px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: {px(10)}px; margin: 0; }}
QScrollBar::handle {{ background: {control}; border-radius: {px(3)}px; margin: {px(2)}px; }}
QScrollBar::handle:vertical {{ min-height: {px(28)}px; }}
QScrollBar::handle:horizontal {{ min-width: {px(28)}px; }}
QScrollBar::handle:hover {{ background: {theme.muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}

QStatusBar {{ background: {theme.window}; border-top: 1px solid {theme.hairline}; }}
QStatusBar::item {{ border: none; }}
QStatusBar QLabel {{ color: {theme.muted}; font-size: {px(12)}px; padding: 0 {px(4)}px; }}
QProgressBar {{ background: {theme.raised}; border: none; border-radius: {px(3)}px; height: {px(6)}px;
    max-height: {px(6)}px; }}
QProgressBar::chunk {{ background: {theme.accent}; border-radius: {px(3)}px; }}
#banner {{ background: {blend(theme.error, theme.panel, 0.1).name()};
    border-bottom: 1px solid {blend(theme.error, theme.panel, 0.4).name()}; }}
#banner QLabel {{ color: {theme.text}; }}
#offer {{ background: {blend(theme.accent, theme.window, 0.08).name()}; border-top: 1px solid {theme.hairline}; }}
#offer QLabel {{ color: {theme.text}; }}
#offer QPushButton {{ padding: {px(2)}px {px(10)}px; font-size: {px(12)}px; }}
QLabel#tourHeading {{ font-size: {px(20)}px; font-weight: 600; }}
QLabel#callout {{ color: {theme.text}; background: {blend(theme.warning, theme.panel, 0.1).name()};
    border-left: {px(3)}px solid {theme.warning}; padding: {px(8)}px {px(12)}px; }}
#questionCard {{ background: {theme.window}; border: 1px solid {theme.hairline}; border-radius: {px(8)}px; }}
#questionCard:focus {{ border: 1px solid {theme.accent}; }}
QLabel#questionCaption {{ color: {theme.muted}; font-size: {px(11)}px; font-weight: 600; letter-spacing: 1px; }}
QLabel#question {{ font-size: {px(15)}px; font-weight: 500; padding-bottom: {px(4)}px; }}
#answerRow {{ border: 1px solid transparent; border-radius: {px(6)}px; }}
#answerRow[verdict="right"] {{ background: {right}; }}
#answerRow[verdict="wrong"] {{ background: {blend(theme.error, theme.panel, 0.1).name()}; }}
QPushButton#answer {{ text-align: left; font-family: "{MONO_FAMILY}"; font-size: {px(13)}px;
    padding: {px(6)}px {px(12)}px; }}
QPushButton#answer:disabled {{ color: {theme.text}; background: transparent; border-color: transparent; }}
QLabel#answerReason {{ font-size: {px(13)}px; padding: 0 {px(12)}px {px(8)}px {px(12)}px; }}
"""
