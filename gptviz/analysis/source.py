"""The source code of a stage's operation, taken from the running model's own classes."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gptviz.capture.stages import Source, Stage

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

_Function = Callable[..., Any]
_AFTER_THE_MODEL = {"last": "last_logits", "next": "greedy_choice"}


@dataclass(frozen=True)
class Code:
    """A piece of source code; ``marked`` are the numbers, as in the file, of the lines that matter in it."""

    name: str  # such as AttentionScores.forward
    file: str
    first_line: int
    text: str
    marked: range

    @property
    def marked_text(self) -> str:
        """The marked lines, without what they are indented by."""
        lines = self.text.splitlines()[self.marked.start - self.first_line : self.marked.stop - self.first_line]
        return textwrap.dedent("\n".join(lines)).strip()

    @property
    def short_file(self) -> str:
        """The path from the package on, such as gptviz/model/attention.py."""
        parts = Path(self.file).parts
        for package in ("gptviz", "torch"):
            if package in parts:
                return "/".join(parts[len(parts) - 1 - parts[::-1].index(package) :])
        return parts[-1]


@dataclass(frozen=True)
class StageSource:
    """The operation with the line that makes the stage's tensor, and the line that it is called in, if any."""

    code: Code
    caller: Code | None
    of_torch: bool


def stage_source(trace: "Trace", stage: Stage) -> StageSource | None:
    """Return the code that made ``stage``; None if the source of the running classes can't be read."""
    try:
        return _source(trace.replay.model, stage)
    except (OSError, TypeError, SyntaxError, LookupError, AttributeError):  # no file, no Python, or another structure
        return None


def _source(model: Any, stage: Stage) -> StageSource:
    if stage.source is Source.AFTER:
        functions = vars(sys.modules["gptviz.model.generate"])
        name = _AFTER_THE_MODEL[stage.name]
        code = _marked(functions[name], _making_statement(functions[name]))
        caller = functions["greedy_step"]
        return StageSource(code, _marked(caller, _call(caller, name)), of_torch=False)
    if stage.name == "ids":
        return StageSource(_marked(_forward(model), _body(_forward(model))[0]), None, of_torch=False)
    if stage.source is Source.INPUT or stage.name.endswith(".shortcut2"):
        return _line_of_parent(model, stage)
    forward = _forward(model.get_submodule(stage.module))
    code = _marked(forward, _making_statement(forward))
    return StageSource(code, _caller(model, stage.module, stage.call), _is_of_torch(forward))


def _line_of_parent(model: Any, stage: Stage) -> StageSource:
    """Find the line whose result goes into a module, or is what the parent returns."""
    path, _, child = stage.module.rpartition(".")
    if stage.source is Source.INPUT:
        forward = _forward(model.get_submodule(path))
        use: ast.AST = _call(forward, f"self.{child}")
    else:
        path = stage.module
        forward = _forward(model.get_submodule(path))
        use = _body(forward)[-1]
    code = _marked(forward, _last_assignment(forward, use))
    return StageSource(code, _caller(model, path, 0) if path else None, of_torch=False)


def _caller(model: Any, path: str, call: int) -> Code | None:
    """Find the line that calls the module at ``path``, in the nearest parent that calls it by name."""
    while path:
        path, _, child = path.rpartition(".")
        forward = _forward(model.get_submodule(path))
        if not _is_of_torch(forward):
            return _marked(forward, _call(forward, f"self.{child}", call))
    return None


def _forward(module: Any) -> _Function:
    forward: _Function = type(module).forward
    return forward


def _is_of_torch(function: _Function) -> bool:
    return function.__module__.split(".")[0] == "torch"


@cache
def _read(function: _Function) -> tuple[str, int, ast.FunctionDef]:
    """Return the dedented source of ``function``, its first line in the file, and its tree."""
    lines, first = inspect.getsourcelines(function)
    text = textwrap.dedent("".join(lines)).rstrip()
    tree = ast.parse(text).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise TypeError(f"{function!r} is no plain function")
    return text, first, tree


def _body(function: _Function) -> list[ast.stmt]:
    """Return the statements of ``function`` after its docstring."""
    body = _read(function)[2].body
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1:] if is_docstring else body


def _statements(function: _Function) -> list[ast.stmt]:
    return [node for node in ast.walk(_read(function)[2]) if isinstance(node, ast.stmt) and not _is_block(node)]


def _is_block(node: ast.stmt) -> bool:
    return hasattr(node, "body")


def _making_statement(function: _Function) -> ast.stmt:
    """Return the last statement that computes: the last one that doesn't merely return a name."""
    return next(
        statement
        for statement in reversed(_body(function))
        if not (isinstance(statement, ast.Return) and isinstance(statement.value, ast.Name))
    )


@cache
def _call(function: _Function, callee: str, call: int = 0) -> ast.stmt:
    """Return the statement that calls ``callee`` for the time numbered ``call`` from 0.

    Raises
    ------
    LookupError
        If there is none.
    """
    calling = [
        statement
        for statement in _statements(function)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == callee
    ]
    return sorted(calling, key=lambda statement: statement.lineno)[call]


@cache
def _last_assignment(function: _Function, use: ast.AST) -> ast.stmt:
    """Return the last assignment before ``use`` to the name that ``use`` reads first."""
    read = next(
        node.id
        for node in ast.walk(use)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != "self"
    )
    line = use.lineno if isinstance(use, ast.stmt) else 0
    assigning = [
        statement
        for statement in _statements(function)
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign)
        and statement.lineno < line
        and read in _assigned(statement)
    ]
    return max(assigning, key=lambda statement: statement.lineno)


def _assigned(statement: ast.Assign | ast.AugAssign | ast.AnnAssign) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _marked(function: _Function, statement: ast.stmt) -> Code:
    text, first, _ = _read(function)
    function = inspect.unwrap(function)
    last = statement.end_lineno or statement.lineno
    marked = range(first + statement.lineno - 1, first + last)
    return Code(function.__qualname__, function.__code__.co_filename, first, text, marked)
