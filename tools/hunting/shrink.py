"""Makes a case smaller while what is wrong with it stays."""

import ast
import copy
import dataclasses
import time


def _edits(tree):
    """functions that each make one change to a copy of the tree: found by walking it, largest parts first"""
    found = []
    for number, node in enumerate(ast.walk(tree)):
        for field in ("body", "orelse"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                for i, statement in enumerate(statements):
                    found.append((number, "drop", field, i))
                    if isinstance(statement, (ast.With, ast.For, ast.If)):
                        found.append((number, "unwrap", field, i))
        if isinstance(node, ast.Call):
            found += [(number, "argument", "args", i) for i in range(len(node.args))]
            found += [(number, "argument", "keywords", i) for i in range(len(node.keywords))]
        if isinstance(node, (ast.List, ast.Tuple)):
            found += [(number, "argument", "elts", i) for i in range(len(node.elts))]
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.Call) and value.args and isinstance(value.args[0], ast.expr):
                found.append((number, "first", field, 0))
            if isinstance(value, ast.BinOp):
                found.append((number, "left", field, 0))
    return found


def _apply(tree, edit):
    """the text after one edit, or None where it makes no sense"""
    number, kind, field, i = edit
    tree = copy.deepcopy(tree)
    node = list(ast.walk(tree))[number]
    if kind in ("drop", "argument"):
        items = getattr(node, field)
        if kind == "drop" and len(items) == 1 and field == "body" and not isinstance(node, ast.Module):
            return None
        del items[i]
    elif kind == "unwrap":
        items = getattr(node, field)
        items[i:i + 1] = items[i].body
    elif kind == "first":
        setattr(node, field, getattr(node, field).args[0])
    else:
        setattr(node, field, getattr(node, field).left)
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except (ValueError, AttributeError):
        return None


def candidates(case):
    """smaller cases, one change each: settings first, then the loop's text, then the model's"""
    for field, plain in (("conf", ""), ("backends", {}), ("total", 0), ("fraction", 0.0)):
        if getattr(case, field) != plain:
            yield dataclasses.replace(case, **{field: plain})
    for field in ("loop", "code"):
        tree = ast.parse(getattr(case, field))
        for edit in _edits(tree):
            text = _apply(tree, edit)
            if text is not None and text != getattr(case, field):
                yield dataclasses.replace(case, **{field: text})


def smaller(case, judge, outcome, limit_s=45):
    """the smallest case found in `limit_s` seconds whose outcome is of the same verdict and kind"""
    def same(other):
        return other.verdict == outcome.verdict and other.kind == outcome.kind

    end, changed = time.monotonic() + limit_s, True
    while changed:
        changed = False
        tried = 0
        for candidate in candidates(case):
            if time.monotonic() > end:
                return case
            tried += 1
            if candidate.size() < case.size() and same(judge(candidate)):
                case, changed = candidate, True
                break
    return case
