def fnmatch(name, pat):
    if not pat:
        return not name
    if pat[0] == "*":
        return any([fnmatch(name[i:], pat[1:]) for i in range(len(name) + 1)])
    if not name:
        return False
    if pat[0] == "[" and "]" in pat:
        end = pat.index("]")
        wanted = pat[1:end]
        return (name[0] in wanted.lstrip("!")) != wanted.startswith("!") and fnmatch(name[1:], pat[end + 1:])
    return pat[0] in ("?", name[0]) and fnmatch(name[1:], pat[1:])


fnmatchcase = fnmatch


def filter(names, pat):
    return [name for name in names if fnmatch(name, pat)]
