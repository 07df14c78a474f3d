"""The menus: every action with its shortcut."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QInputDialog, QMenu, QMessageBox, QWidget

from gptviz import __version__, resources
from gptviz.app.exporting import Exporting
from gptviz.app.opening import Opening
from gptviz.app.run_files import RunFiles
from gptviz.app.tour_guide import REVEAL_KEY
from gptviz.panes import LABS
from gptviz.session.jobs import TITLES
from gptviz.session.requests import CheckpointRequest, UntrainedRequest
from gptviz.session.state import DEFAULT_CONFIG, DEFAULT_SEED

if TYPE_CHECKING:
    from gptviz.app.main_window import MainWindow
    from gptviz.session.state import ViewState

_LARGEST_SEED = 2**31 - 1


def _pane_key(number: int) -> str:
    """Return the shortcut of the pane with this number: ten are Alt and a digit, those after them Shift too."""
    return f"Alt+{number % 10}" if number <= 10 else f"Alt+Shift+{number % 10}"


class Actions:
    """Makes the actions and menus of a main window."""

    def __init__(self, window: "MainWindow") -> None:
        self._window = window
        self._make_running()
        self._make_generating()
        self._make_walking()
        self._make_looks()
        self._make_learning()
        self.quit = self._action("Quit", "Ctrl+Q", "Close gptviz", window.close)
        self.about = self._action("About gptviz", "F1", "What this is", self._about)
        self.opening, self.runs = Opening(window, self._action), RunFiles(window, self._action)
        self.exporting = Exporting(window, self._action)
        self._models: dict[str, QAction] = {}
        self._schemes: dict[str, QAction] = {}
        self.model_menu = self._make_model_menu()
        self._fill_menu_bar()
        self.tick_choices()
        self.enable_travel(window.session.state)

    def _make_running(self) -> None:
        window, session = self._window, self._window.session
        self.run = self._action("Run", "Ctrl+Return", "Run the model on the prompt", session.run)
        self.cancel = self._action("Cancel", "Esc", "Stop what is under way", session.cancel)
        self.edit_prompt = self._action("Edit prompt", "Ctrl+L", "Put the cursor into the prompt", window.edit_prompt)
        self.add_row = self._action("Add a row", "Ctrl+B", "Make a batch of several prompts", session.add_prompt)
        self.pin = self._action("Pin this run to compare", "Ctrl+P", "Put the run on screen aside as A", self._pin)
        self.unpin = self._action("Unpin", "Ctrl+Shift+P", "Let the pinned run go", session.comparing.unpin)

    def _make_generating(self) -> None:
        session, travel = self._window.session, self._window.session.travel
        self.step = self._action("Generate a token", "Ctrl+G", "Append the likeliest token", session.loop.step)
        self.play = self._action("Play or pause", "Ctrl+Shift+G", "Append tokens until paused", session.loop.toggle)
        self.line = self._action(
            "Run one line", "Ctrl+Shift+N", "Run one line of the loop, then wait", session.loop.line
        )
        self.step_back = self._action("One step back", "Ctrl+PgUp", "Show the step before in all panes", travel.back)
        self.step_on = self._action("One step on", "Ctrl+PgDown", "Show the step after in all panes", travel.forward)
        self.undo = self._action("Undo", "Ctrl+Z", "Take back the last change to the generated text", travel.undo)
        self.redo = self._action("Redo", "Ctrl+Shift+Z", "Make it again", travel.redo)
        self.reset = self._action("Reset generation", "Ctrl+R", "Drop the generated tokens", session.loop.reset)

    def _make_walking(self) -> None:
        window, session = self._window, self._window.session
        walk, live = session.walk, session.live
        self.walks = [
            self._keyed("Next stage", "→", walk.forward),
            self._keyed("Previous stage", "←", walk.back),
            self._keyed("Next block", "Shift+→", walk.next_block),
            self._keyed("Previous block", "Shift+←", walk.previous_block),
            self._keyed("First stage", "Home", walk.first),
            self._keyed("Last stage", "End", walk.last),
            self._keyed("Play or pause", "Space", walk.toggle),
        ]
        self.explain = self._action(
            "Explain the number",
            "Ctrl+E",
            "Show how the selected number was made",
            lambda: window.show_pane("arithmetic"),
        )
        self.back = self._action("Number before", "Alt+Left", "Back to the number before", session.trail.back)
        self.forward = self._action("Number after", "Alt+Right", "Forward again", session.trail.forward)
        self.step_live = self._action("Step live", "F10", "Run the real pass and hold it at every stage", live.start)
        self.next = self._action("Next stage of the held pass", "F11", "Let it compute one more stage", live.next)
        self.run_on = self._action(
            "Continue the held pass", "F9", "Go on to the next breakpoint or the end", live.run_on
        )

    def _make_looks(self) -> None:
        window = self._window
        self.surprisal = self._action(
            "Surprisal",
            "Ctrl+U",
            "Show how much each token surprised the model",
            window.prompt_bar.surprisal.switch.toggle,
        )
        self.larger = self._action("Lecture size", "Ctrl+Shift+L", "Draw everything 1.5 times as large", self._scale)
        self.larger.setCheckable(True)
        self.toggle_theme = self._action("Light or dark", "Ctrl+T", "Change between light and dark", self._toggle_theme)
        self.restore = self._action("Restore layout", "Ctrl+0", "Put all panes back", window.restore_default_layout)

    def _make_learning(self) -> None:
        window, session = self._window, self._window.session
        self.bench = self._action("Labs", "F2", "Open the labs, or go back to the model", window.bench.toggle)
        self.labs = [self._lab_action(number, lab.name, lab.title) for number, lab in enumerate(LABS, start=1)]
        self.tour = (
            self._action("Guided tour", "F3", "Begin or go on with the guided tour, or leave it", window.tour.toggle),
            self._action("Next step of the tour", "Alt+PgDown", "Go on to the next step", session.tour.forward),
            self._action("Previous step of the tour", "Alt+PgUp", "Go back to the step before", session.tour.back),
        )
        self.predict = self._action(
            "Predict first", "Shift+F4", "Let tour and labs ask before they show", self._predict_first
        )
        self.predict.setCheckable(True)
        self.reveal = self._action(
            "Show the answer", REVEAL_KEY, "Show the answer of a question", window.tour.reveal_answers
        )

    def _action(self, text: str, shortcut: str, tip: str, call: Callable[[], object]) -> QAction:
        action = QAction(text, self._window)
        action.setShortcut(QKeySequence(shortcut))
        action.setToolTip(f"{tip} ({shortcut})")
        action.setStatusTip("")
        action.triggered.connect(lambda *_: call())
        self._window.addAction(action)
        return action

    def _choice(self, group: QActionGroup, text: str, shortcut: str, tip: str, call: Callable[[], object]) -> QAction:
        """An action that is ticked while it is what was chosen of its group."""
        action = self._action(text, shortcut, tip, call)
        action.setCheckable(True)
        return group.addAction(action)

    def _keyed(self, text: str, key: str, call: Callable[[], object]) -> QAction:
        """An action whose key the window handles itself, after the widget in focus had no use for it."""
        action = QAction(f"{text}\t{key}", self._window)
        action.setToolTip(f"{text} ({key})")
        action.triggered.connect(lambda *_: call())
        return action

    def _lab_action(self, number: int, name: str, title: str) -> QAction:
        return self._action(title, f"Ctrl+F{number}", f"Open the lab {title}", lambda: self._window.bench.open(name))

    def _fill_menu_bar(self) -> None:
        window = self._window
        bar = window.menuBar()
        opening = self.opening
        opens = (opening.file, opening.folder, opening.hub, opening.recent)
        runs = (self.runs.save, self.runs.open_, self.runs.load)
        others = (opening.table, opening.about, None, self.exporting.menu)
        self._menu("File", (*opens, None, *runs, None, *others, None, self.quit))
        self._menu("Run", (self.run, self.cancel, None, self.edit_prompt, self.add_row, None, self.pin, self.unpin))
        self._menu(
            "Walk",
            (*self.walks, None, self.explain, self.back, self.forward, None, self.step_live, self.next, self.run_on),
        )
        steps = (self.step, self.line, self.play, None, self.step_back, self.step_on)
        self._menu("Generate", (*steps, None, self.undo, self.redo, self.reset))
        bar.addMenu(self.model_menu)
        if self.labs:
            self._menu("Labs", (self.bench, None, *self.labs))
        view = self._menu("View", ())
        docks = [dock for dock in window.docks.values() if dock.name != "tour"]  # Help has that
        for number, dock in enumerate(docks, start=1):
            toggle = dock.toggleViewAction()
            key = _pane_key(number)
            toggle.setShortcut(QKeySequence(key))
            toggle.setToolTip(f"Show or hide the pane {dock.windowTitle()} ({key})")
            view.addAction(toggle)
        view.addActions([self.restore])
        view.addSeparator()
        view.addMenu(self._make_scheme_menu(view))
        view.addActions([self.toggle_theme, self.larger, self.surprisal])
        self._menu("Help", (*self.tour, None, self.predict, self.reveal, None, self.about))

    def _menu(self, title: str, actions: tuple[QAction | QMenu | None, ...]) -> QMenu:
        menu = self._window.menuBar().addMenu(title)
        menu.setToolTipsVisible(True)
        for action in actions:
            if action is None:
                menu.addSeparator()
            elif isinstance(action, QMenu):
                menu.addMenu(action)
            else:
                menu.addAction(action)
        return menu

    def _make_model_menu(self) -> QMenu:
        menu = QMenu("Model", self._window)
        menu.setToolTipsVisible(True)
        group = QActionGroup(menu)
        group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)  # none is ticked for a custom model
        for number, (name, title) in enumerate(TITLES.items(), start=1):
            tip = f"Initialise {title} with the present seed and run the prompt on it"
            call = partial(self._use_model, name)
            self._models[name] = self._choice(group, f"{title}, random weights", f"Ctrl+{number}", tip, call)
        menu.addActions(group.actions())
        menu.addSeparator()
        for number, (name, title) in enumerate(resources.MODELS.items(), start=len(TITLES) + 1):
            tip = f"Open {title}, which comes with gptviz, and run the prompt on it"
            call = partial(self.open_bundled, name)
            self._models[name] = self._choice(group, title, f"Ctrl+{number}", tip, call)
            menu.addAction(self._models[name])
        menu.addSeparator()
        seed = self._action("Seed…", "Ctrl+Shift+S", "Choose the seed of the random weights", self._ask_seed)
        menu.addAction(seed)
        return menu

    def _make_scheme_menu(self, parent: QWidget) -> QMenu:
        menu = QMenu("Colours", parent)
        menu.setToolTipsVisible(True)
        group = QActionGroup(menu)
        for number, scheme in enumerate(("system", "light", "dark"), start=1):
            text = "Like the system" if scheme == "system" else scheme.capitalize()
            tip, call = f"Colours: {text.lower()}", partial(self._window.set_scheme, scheme)
            self._schemes[scheme] = self._choice(group, text, f"Ctrl+Alt+{number}", tip, call)
        menu.addActions(group.actions())
        return menu

    def tick_choices(self) -> None:
        """Tick the model and the look that are in use, however they were chosen."""
        wanted = self._window.session.making.wanted
        for name, action in self._models.items():
            action.setChecked(name == (wanted.config if isinstance(wanted, UntrainedRequest) else wanted.path))
        self._schemes[self._window.appearance.scheme].setChecked(True)
        self.larger.setChecked(self._window.appearance.lecture)
        self.predict.setChecked(self._window.session.state.options.predict_first)

    def enable_travel(self, state: "ViewState") -> None:
        """Offer in the menu what can be done with the generated text as it is."""
        generation, history = state.generation, state.history
        steps, shown = len(generation.steps), generation.shown
        self.step_back.setEnabled(steps > 0 and shown != 0)
        self.step_on.setEnabled(shown is not None and shown < steps - 1)
        self.undo.setEnabled(bool(history.past))
        self.redo.setEnabled(bool(history.future))
        self.reset.setEnabled(bool(generation.nodes))

    def _pin(self) -> None:
        self._window.session.comparing.pin()
        self._window.show_pane("compare")

    def _toggle_theme(self) -> None:
        self._window.set_scheme("light" if self._window.appearance.theme.name == "dark" else "dark")

    def _scale(self) -> None:
        self._window.set_lecture(self.larger.isChecked())

    def open_bundled(self, name: str) -> None:
        """Open a model that gptviz carries."""
        self._window.session.opening.open(CheckpointRequest(name))

    def _predict_first(self) -> None:
        self._window.tour.set_predict_first(self.predict.isChecked())

    def _use_model(self, name: str) -> None:
        wanted = self._window.session.making.wanted
        self._window.session.use_model(name, wanted.seed if isinstance(wanted, UntrainedRequest) else DEFAULT_SEED)

    def _ask_seed(self) -> None:
        session = self._window.session
        wanted = session.making.wanted
        if not isinstance(wanted, UntrainedRequest):
            wanted = UntrainedRequest(DEFAULT_CONFIG, DEFAULT_SEED)
        value, ok = QInputDialog.getInt(
            self._window, "Seed", "Seed of the random weights; the chapter uses 123", wanted.seed, 0, _LARGEST_SEED
        )
        if ok:
            session.use_model(wanted.config, value)

    def _about(self) -> None:
        QMessageBox.about(
            self._window,
            "About gptviz",
            f"gptviz {__version__}\n\nWatch a GPT-2-shaped PyTorch model run. Every number on screen comes from a "
            "tensor that the running model produced; nothing is invented, nothing is hidden, nothing needs a network.",
        )
