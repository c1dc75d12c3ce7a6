"""A module's own source, without its constructors, and the statements that rebuild its instance."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import textwrap
import types
from collections.abc import Sequence
from typing import Any, Optional, Union

import torch
from torch import nn

from tidemark._torch._structure import Structure, built_modules, check_rebuilt, is_library
from tidemark._torch._values import Unsupported, is_plain_dataclass, literal_text, tensor_text

# Where a function or class that is not the user's is to be imported from, in this order.
_LIBRARY = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.utils.checkpoint",
    "torch.nn.utils",
    "math",
    "itertools",
    "functools",
    "collections",
    "contextlib",
    "dataclasses",
    "operator",
    "copy",
    "typing",
    "warnings",
)
_BASES = (nn.Module, nn.Sequential, nn.ModuleList, nn.ModuleDict)
_READY = frozenset(("torch", "nn", "F", "math"))  # there without an import, under these names
_ENTRY = frozenset(("forward",))


def source_text(module: nn.Module) -> str:
    """A text with a function `build` that makes the module again. Raises Unsupported with what stands in the way."""
    text = _Writer(module).text()
    check_rebuilt(module, text)
    return text


def _tree_of(thing: Any) -> Union[ast.ClassDef, ast.FunctionDef]:
    name = getattr(thing, "__qualname__", repr(thing))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    except (OSError, TypeError, SyntaxError):
        raise Unsupported(f"the source of {name} is not to be had") from None
    if not isinstance(tree, (ast.ClassDef, ast.FunctionDef)):
        raise Unsupported(f"{name} is no plain function or class")
    return tree


def _namespace(thing: Any) -> dict[str, Any]:
    """The globals of the file that a class or function stands in."""
    module = inspect.getmodule(thing)
    return {} if module is None else vars(module)


def _add_with_functions(tree: ast.AST, namespace: dict[str, Any], trees: list[ast.AST], seen: set[str]) -> None:
    """Adds a tree and those of the user's functions that it mentions, and theirs."""
    trees.append(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in seen:
            continue
        thing = namespace.get(node.id)
        if isinstance(thing, types.FunctionType) and _library_place(thing) is None:
            seen.add(node.id)
            _add_with_functions(_tree_of(thing), _namespace(thing), trees, seen)


def _words(trees: Sequence[ast.AST]) -> set[str]:
    """Every name and attribute that code mentions."""
    found = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                found.add(node.value)  # getattr(self, "conv1")
    return found


def _without_annotations(tree: ast.AST) -> ast.AST:
    """Annotations say nothing to a run, and may name what is not there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            arguments = node.args
            for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
                if each is not None:
                    each.annotation = None
    return tree


class _Plain(ast.NodeTransformer):
    """Annotated assignments in functions become plain ones; docstrings go."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Optional[ast.AST]:
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


class _Writer:
    """Collects the classes and functions that forward reaches, then writes them in an order that runs."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._classes: dict[type, ast.ClassDef] = {}
        self._names: dict[str, Any] = {}  # of the text's namespace
        self._texts: dict[str, str] = {}  # name -> statements that define it
        self._order: list[str] = []
        self._kept: dict[type, list[ast.stmt]] = {}

    def text(self) -> str:
        for each in built_modules(self._module):
            self._add_class(type(each))
        self._keep_what_is_reached()
        for kind in self._classes:
            self._write_class(kind)
        structure = Structure(lambda each: f"{type(each).__name__}()", self._attributes, keep_library=True)
        self._structure = structure
        root = structure.build(self._module)
        body = [f"    {line}" for line in [*structure.lines, f"return {root}"]]
        return "\n\n".join(self._texts[name] for name in self._order) + "\n\ndef build():\n" + "\n".join(body) + "\n"

    def _add_class(self, kind: type) -> None:
        """A class of the user's with its bases; torch.nn's are there."""
        if is_library(kind) or kind in _BASES or kind in self._classes:
            return
        if not issubclass(kind, nn.Module) or kind.__module__.startswith("torch.nn."):
            raise Unsupported(f"class {kind.__name__} of {kind.__module__}")
        if type(kind) is not type:
            raise Unsupported(f"class {kind.__name__} has a metaclass")
        for base in kind.__bases__:
            if base is not object:
                self._add_class(base)
            if is_library(base) and base not in _BASES:
                raise Unsupported(f"class {kind.__name__} is made of nn.{base.__name__}, whose constructor it would need")
        tree = _tree_of(kind)
        if not isinstance(tree, ast.ClassDef) or tree.name != kind.__name__:
            raise Unsupported(f"the source of {kind.__qualname__} is not to be had")
        if "<locals>" in kind.__qualname__:
            self._refuse_closures(kind)
        self._claim(kind.__name__, kind)
        self._classes[kind] = tree

    @staticmethod
    def _refuse_closures(kind: type) -> None:
        for name, member in vars(kind).items():
            code = getattr(member, "__code__", None)
            if code is not None and name != "__init__" and set(code.co_freevars) - {"__class__"}:
                raise Unsupported(f"{kind.__name__}.{name} uses variables of the function around it")

    def _claim(self, name: str, thing: Any) -> None:
        """One name, one thing: the text has a single namespace."""
        if name in self._names and self._names[name] is not thing:
            raise Unsupported(f"the name '{name}' stands for two things in the module's files")
        self._names[name] = thing

    def _keep_what_is_reached(self) -> None:
        """Methods and class attributes whose names the code from `forward` on mentions, the functions it calls included."""
        reached: set[str] = set(_ENTRY)
        while True:
            kept = {kind: [each for each in tree.body if self._is_reached(each, reached)] for kind, tree in self._classes.items()}
            trees: list[ast.AST] = []
            seen: set[str] = set()
            for kind, body in kept.items():
                for statement in body:
                    _add_with_functions(statement, _namespace(kind), trees, seen)
            more = reached | _words(trees)
            if more == reached:
                break
            reached = more
        self._kept = kept
        self._reached = reached

    @staticmethod
    def _is_reached(statement: ast.stmt, reached: set[str]) -> bool:
        if isinstance(statement, ast.FunctionDef):
            return statement.name in reached and statement.name != "__init__"
        if isinstance(statement, ast.Assign):
            return any(isinstance(each, ast.Name) and each.id in reached for each in statement.targets)
        if isinstance(statement, ast.AnnAssign):
            return isinstance(statement.target, ast.Name) and statement.target.id in reached and statement.value is not None
        return False

    def _write_class(self, kind: type) -> None:
        if kind.__name__ in self._texts:
            return
        for base in kind.__bases__:
            if base in self._classes:
                self._write_class(base)
        tree = self._classes[kind]
        bases = []
        for base in kind.__bases__:
            if base is not object:
                bases.append(base.__name__ if base in self._classes else f"nn.{base.__name__}")
        body = [_Plain().visit(_without_annotations(each)) for each in self._kept[kind]]
        self._define_globals(body, _namespace(kind))
        made = ast.ClassDef(
            name=tree.name,
            bases=[ast.parse(base, mode="eval").body for base in bases],
            keywords=[],
            body=body or [ast.Pass()],
            decorator_list=[],
        )
        self._texts[kind.__name__] = ast.unparse(ast.fix_missing_locations(made))
        self._order.append(kind.__name__)

    def _define_globals(self, trees: Sequence[ast.AST], namespace: dict[str, Any]) -> None:
        """Everything of the user's file that the code uses by name, before the code itself."""
        used = sorted({node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)})
        for name in used:
            if name in namespace:
                self._define(name, namespace[name])

    def _define(self, name: str, thing: Any) -> None:
        if name in self._names and self._names[name] is thing:
            if name in self._texts or isinstance(thing, type):
                return
        self._claim(name, thing)
        if thing in (torch, nn, nn.functional) and name in _READY:
            return
        text = self._definition(name, thing)
        if text is not None and name not in self._texts:
            self._texts[name] = text
            self._order.append(name)

    def _definition(self, name: str, thing: Any) -> Optional[str]:
        if isinstance(thing, types.ModuleType):
            return f"import {name}" if thing.__name__ == name else f"import {thing.__name__} as {name}"
        place = _library_place(thing)
        if place is not None:
            return f"from {place[0]} import {place[1]}" + ("" if place[1] == name else f" as {name}")
        if isinstance(thing, type) and issubclass(thing, nn.Module):
            self._add_class(thing)
            if thing not in self._kept:
                self._keep_what_is_reached()
            if thing in self._classes:
                self._write_class(thing)
            return None
        if isinstance(thing, (types.FunctionType, type)):
            if isinstance(thing, types.FunctionType) and set(thing.__code__.co_freevars):
                raise Unsupported(f"{thing.__qualname__} uses variables of the function around it")
            if thing.__name__ != name:
                raise Unsupported(f"'{name}' is another name of {thing.__qualname__}")
            tree = _tree_of(thing)
            cleaned = _without_annotations(tree) if isinstance(thing, type) else _Plain().visit(_without_annotations(tree))
            self._names[name] = thing
            self._define_globals([cleaned], _namespace(thing))
            return ast.unparse(ast.fix_missing_locations(cleaned))
        return f"{name} = {literal_text(thing)}"

    def _attributes(self, module: nn.Module) -> list[tuple[str, str]]:
        """What an instance holds beside modules and tensors, as far as the code asks for it."""
        own = vars(nn.Module())
        found = []
        for name, value in vars(module).items():
            if name in own or name not in self._reached:
                continue
            try:
                found.append((name, self._expression(value)))
            except Unsupported as error:
                raise Unsupported(f"attribute '{name}' of {type(module).__name__} is {error}") from None
        return found

    def _expression(self, value: Any) -> str:
        if isinstance(value, nn.Module):
            known = self._structure.name_of(value)
            if known is None:
                raise Unsupported(f"a {type(value).__name__} that is not registered as a submodule")
            return known
        if isinstance(value, torch.Tensor):
            if value.device.type not in ("cpu", "meta"):
                raise Unsupported("a tensor on a device that is no buffer")
            return tensor_text(value)
        if type(value) in (list, tuple) and any(isinstance(each, nn.Module) for each in value):
            inside = ", ".join(self._expression(each) for each in value)
            return f"[{inside}]" if isinstance(value, list) else f"({inside},)"
        place = _library_place(value)
        if place is not None:
            importlib.import_module(place[0])
            alias = f"{place[0].replace('.', '_')}_{place[1]}"
            self._define(alias, value)
            return alias
        if isinstance(value, types.FunctionType):
            self._define(value.__name__, value)
            return value.__name__
        if is_plain_dataclass(value):
            kind = type(value)
            self._define(kind.__name__, kind)
            words = [f"{f.name}={self._expression(getattr(value, f.name))}" for f in dataclasses.fields(value) if f.init]
            return f"{kind.__name__}({', '.join(words)})"
        return literal_text(value)


def _library_place(thing: Any) -> Optional[tuple[str, str]]:
    """Module and name under which a function or class of a library is known to everybody."""
    name = getattr(thing, "__name__", None)
    if not isinstance(name, str) or not callable(thing):
        return None
    for place in _LIBRARY:
        if getattr(importlib.import_module(place), name, None) is thing:
            return place, name
    return None
