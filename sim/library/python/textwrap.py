def indent(text, prefix, predicate=None):
    return "".join([prefix + line if line.strip() else line for line in text.splitlines(True)])


def dedent(text):
    lines = text.split("\n")
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "\n".join([line[margin:] if line.strip() else "" for line in lines])


def wrap(text, width=70, **options):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = line + " " + word if line else word
    return lines + [line] if line else lines


def fill(text, width=70, **options):
    return "\n".join(wrap(text, width))


def shorten(text, width, placeholder=" [...]", **options):
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    return (wrap(text, width - len(placeholder)) or [""])[0] + placeholder
