def split(s, comments=False, posix=True):
    words, word, quote, at = [], None, None, 0
    while at < len(s):
        c = s[at]
        at += 1
        if quote is not None:
            if c == quote:
                quote = None
                word += "" if posix else c
            elif c == "\\" and quote == '"' and posix and s[at : at + 1] in ('"', "\\"):
                word += s[at]
                at += 1
            else:
                word += c
        elif c.isspace():
            if word is not None:
                words.append(word)
                word = None
        elif c in "'\"":
            quote, word = c, (word or "") + ("" if posix else c)
        elif c == "\\" and posix:
            if at == len(s):
                raise ValueError("No escaped character")
            word = (word or "") + s[at]
            at += 1
        elif c == "#" and comments:
            at = (s + "\n").index("\n", at)
        else:
            word = (word or "") + c
    if quote is not None:
        raise ValueError("No closing quotation")
    return words if word is None else words + [word]


def quote(s):
    if s and all([c.isalnum() and c.isascii() or c in "_@%+=:,./-" for c in s]):
        return s
    return "'" + s.replace("'", "'\"'\"'") + "'"


def join(split_command):
    return " ".join([quote(word) for word in split_command])
