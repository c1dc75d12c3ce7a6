#!/usr/bin/env python3
"""Writes and builds stub shared libraries for everything that a set of shared libraries imports from the CUDA family.

    stubs.py --out DIR [--include DIR] [--full SONAME=REALLIB]... LIB...

For each LIB, `nm -D --undefined-only` gives the CUDA-family symbols it needs,
`readelf -V` the file and version node each is asked of, and `readelf -d` the
SONAMEs it needs.  One stub library is made per SONAME:

  * what libraries/<stem>.cc defines is taken as it is (libcudart and
    libcuda: cuda/*.cc);
  * a symbol with a prototype in the CUDA headers gets a typed stub, which
    zeroes numbers and makes handles that it is asked to fill;
  * any other symbol gets `long f(void) { return 0; }`.

A library whose symbols are asked for under a version node gets a version
script with that node; one that is asked for nothing versioned gets none.
"""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# symbol prefix -> library stem; the first match wins
PREFIX = [
    ("__cuda", "libcudart"), ("cudaGL", "libcudart"), ("cublasLt", "libcublasLt"), ("cublasXt", "libcublas"),
    ("cublas", "libcublas"), ("cudnn", "libcudnn"), ("cusparseLt", "libcusparseLt"), ("cusparse", "libcusparse"),
    ("cusolverMg", "libcusolverMg"), ("cusolver", "libcusolver"), ("cufft", "libcufft"), ("curand", "libcurand"),
    ("nccl", "libnccl"), ("pncclX", "libnccl"), ("nvrtc", "libnvrtc"), ("cupti", "libcupti"),
    ("nvshmem", "libnvshmem_host"), ("cuFile", "libcufile"), ("cufile", "libcufile"), ("nvtx", "libnvToolsExt"),
    ("nvJitLink", "libnvJitLink"), ("nvml", "libnvidia-ml"), ("cuda", "libcudart"),
]
STEMS = sorted({s for _, s in PREFIX} | {"libcuda", "libnvJitLink", "libnvvm", "libnvToolsExt"}, key=len, reverse=True)
HEADERS = {
    "libcudart": ["cuda_runtime_api.h"], "libcublas": ["cublas_v2.h"], "libcublasLt": ["cublasLt.h"],
    "libcudnn": ["cudnn.h"], "libcusparse": ["cusparse.h"], "libcusparseLt": ["cusparseLt.h"],
    "libcusolver": ["cusolverDn.h", "cusolverSp.h"], "libcufft": ["cufft.h", "cufftXt.h"], "libcurand": ["curand.h"],
    "libnccl": ["nccl.h"], "libnvrtc": ["nvrtc.h"], "libcuda": ["cuda.h"], "libcupti": ["cupti.h"],
    "libcufile": ["cufile.h"], "libnvJitLink": ["nvJitLink.h"],
}
CORE = ("libcudart", "libcuda", "libnvidia-ml")  # what cuda/ defines the functions of
DEFAULT_SONAME = {"libcuda": "libcuda.so.1", "libnvidia-ml": "libnvidia-ml.so.1"}


class BuildFailed(Exception):
    """a tool failed; its words"""


def sh(*cmd, check=True):
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if check and r.returncode:
        raise BuildFailed("%s\n%s" % (" ".join(cmd), r.stderr))
    return r.stdout


def stem_of_soname(soname):
    base = soname.split(".so")[0]
    return base if base in STEMS else None


def stem_of_symbol(sym):
    for p, s in PREFIX:
        if sym.startswith(p):
            return s
    if re.match(r"cu[A-Z]", sym):
        return "libcuda"
    return None


def needed(lib):
    return re.findall(r"\(NEEDED\).*\[(.+?)\]", sh("readelf", "-dW", lib))


def version_files(lib):
    """version node -> file it is asked of"""
    out, cur = {}, None
    for line in sh("readelf", "-VW", lib).splitlines():
        m = re.search(r"File: (\S+)", line)
        if m:
            cur = m.group(1)
        m = re.search(r"Name: (\S+)\s+Flags", line)
        if m and cur:
            out[m.group(1)] = cur
    return out


def undefined(lib):
    for line in sh("nm", "-D", "--undefined-only", lib).splitlines():
        f = line.split()
        if len(f) < 2:
            continue
        name, _, ver = f[-1].partition("@")
        yield name, ver.lstrip("@")


def defined(lib):
    out = {}
    for line in sh("nm", "-D", "--defined-only", lib).splitlines():
        f = line.split()
        if len(f) == 3 and f[1] in "TWtwiDBVR":
            name, _, ver = f[2].partition("@")
            out[name] = (ver.lstrip("@"), f[1])
    return out


def object_defines(obj):
    return {l.split()[-1] for l in sh("nm", "--defined-only", obj).splitlines() if re.search(r" [TW] ", l)}


def split_args(s):
    out, depth, cur = [], 0, ""
    for c in s:
        if c in "([{<":
            depth += 1
        if c in ")]}>":
            depth -= 1
        if c == "," and depth == 0:
            out.append(cur)
            cur = ""
        else:
            cur += c
    if cur.strip():
        out.append(cur)
    return [a.strip() for a in out]


def prototypes(headers, include):
    """name -> (return type, [parameter declaration])"""
    have = [h for h in headers if any(os.path.exists(os.path.join(i, h)) for i in include)]
    if not have:
        return {}, []
    src = "".join("#include <%s>\n" % h for h in have)
    cmd = ["g++", "-E", "-P", "-x", "c++", "-"] + ["-I" + i for i in include]
    r = subprocess.run(cmd, input=src, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        return {}, []
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", r.stdout)
    text = re.sub(r"\b(__host__|__device__|__cudart_builtin__|__inline__|extern\s+\"C\"|extern)\b", " ", text)
    text = re.sub(r"\s+", " ", text)
    protos = {}
    for m in re.finditer(r"([A-Za-z_][\w\s\*]*?[\s\*])([A-Za-z_]\w+)\s*\(([^;{}]*?)\)\s*;", text):
        ret, name, args = m.group(1).strip(), m.group(2), m.group(3).strip()
        if stem_of_symbol(name) is None or "(" in args or "typedef" in ret or "return" in ret.split():
            continue
        ret = ret.split("}")[-1].strip()
        ps = [] if args in ("", "void") else split_args(args)
        if any("..." in p for p in ps):
            continue
        protos.setdefault(name, (ret, ps))
    return protos, have


def param(decl, i):
    """declaration renamed to a<i>, and whether it may be written through"""
    decl = re.sub(r"=.*$", "", decl).strip()
    arr = ""
    m = re.match(r"^(.*?)((?:\s*\[[^\]]*\])+)$", decl)
    if m:
        decl, arr = m.group(1).strip(), m.group(2)
    words = re.findall(r"\w+|\*|&", decl)
    kw = {"const", "unsigned", "long", "int", "char", "short", "float", "double", "void", "size_t", "struct", "enum", "signed"}
    named = len(words) > 1 and re.match(r"\w", words[-1]) and words[-1] not in kw and \
        any(re.match(r"\w", w) and w not in ("const", "struct", "enum") for w in words[:-1])
    base = re.sub(r"\b%s$" % re.escape(words[-1]), "", decl).strip() if named else decl
    return "%s a%d%s" % (base, i, arr), ("*" in base or bool(arr))


def emit(soname, symbols, protos, have, path):
    """the typed stubs (C++, with the headers) and the others (C, without)"""
    creates = re.compile(r"(Create|Init|Alloc|Instantiate|Clone)")
    typed, untyped, undef = [], [], []
    for s in sorted(symbols):
        if s not in protos:
            untyped.append('long %s(void) { fakecuda_unknown("%s"); return 0; }\n' % (s, s))
            continue
        ret, ps = protos[s]
        decls, outs = [], []
        for i, d in enumerate(ps):
            text, w = param(d, i)
            decls.append(text)
            if w:
                outs.append(i)
        made = "true" if creates.search(s) else "false"
        lines = ['fakecuda_unknown("%s");' % s] + ["fake::out(a%d, %s);" % (i, made) for i in outs]
        if "char" in ret and "*" in ret:
            lines.append('return "fakecuda";')
        elif ret != "void":
            lines.append("return (%s)0;" % ret)
        undef.append("#undef %s\n" % s)
        typed.append("FAKE_EXPORT %s %s(%s) { %s }\n" % (ret, s, ", ".join(decls), " ".join(lines)))
    with open(path + ".cpp", "w") as f:
        f.write("// made by stubs.py for %s\n" % soname)
        f.writelines("#include <%s>\n" % h for h in have)
        f.write('#include "validation/pretend/libraries/fake.h"\n')
        f.writelines(undef)
        f.writelines(typed)
    with open(path + ".c", "w") as f:
        f.write("/* made by stubs.py for %s */\n" % soname)
        f.write('#pragma GCC visibility push(default)\nvoid fakecuda_unknown(const char *);\n')
        f.writelines(untyped)
    return len(typed), len(untyped)


class Wanted:
    """which symbols, under which version nodes, the given libraries ask of which library"""

    def __init__(self, sonames, libs):
        self.sonames = {stem_of_soname(s): s for s in sonames}  # stem -> soname
        self.symbols = collections.defaultdict(dict)  # soname -> symbol -> version node
        self.lost = []  # symbols of no known library
        for lib in libs:
            for name in needed(lib):
                if stem_of_soname(name):
                    self.sonames.setdefault(stem_of_soname(name), name)
        for lib in libs:
            self.read(lib)

    def read(self, lib):
        files = version_files(lib)
        for sym, ver in undefined(lib):
            if ver:
                so = files.get(ver)
                if so and stem_of_soname(so):
                    self.sonames.setdefault(stem_of_soname(so), so)
                    self.symbols[so][sym] = ver
                continue
            st = stem_of_symbol(sym)
            so = self.sonames.get(st) or DEFAULT_SONAME.get(st)
            if so:
                self.symbols[so].setdefault(sym, "")
            elif st:
                self.lost.append((os.path.basename(lib), sym))

    def whole(self, soname, lib):
        """everything that a real library exports, too"""
        self.sonames.setdefault(stem_of_soname(soname), soname)
        for sym, (ver, kind) in defined(lib).items():
            if kind in "TWtwi" and not sym.startswith("_") or sym.startswith("__cuda"):
                self.symbols[soname].setdefault(sym, ver)


class Builder:
    def __init__(self, out, include, cxx="g++"):
        self.out, self.obj, self.cxx = out, os.path.join(out, "obj"), cxx
        os.makedirs(self.obj, exist_ok=True)
        self.include = include
        self.flags = [cxx, "-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden"] + ["-I" + i for i in [ROOT] + include]

    def compile(self, source, o):
        """what the compiler said; None: done. Types that a library's headers know and the runtime's, of an older release, do not, stand
        as int"""
        newer = o + ".newer.h"
        open(newer, "w").close()
        while True:
            r = subprocess.run(self.flags + ["-w", "-include", newer, "-c", source, "-o", o], stderr=subprocess.PIPE, text=True)
            if not r.returncode:
                return None
            lacking = sorted(set(re.findall(r"error: .(cuda\w+|CU\w+). (?:has not been declared|does not name a type)", r.stderr)))
            if not lacking:
                return r.stderr
            with open(newer, "a") as f:
                f.writelines("typedef int %s;\n" % name for name in lacking)

    def core(self):
        """the device itself; (objects, what they define)"""
        objects, symbols = [], set()
        for source in sorted(glob.glob(os.path.join(HERE, "cuda", "*.cc"))):
            o = os.path.join(self.obj, os.path.basename(source) + ".o")
            sh(*self.flags, "-Wall", "-Wextra", "-c", source, "-o", o)
            objects.append(o)
            symbols |= object_defines(o)
        return objects, symbols

    def by_hand(self, stem):
        """the part of a library that is written in libraries/, where there is one"""
        source = os.path.join(HERE, "libraries", stem + ".cc")
        if not os.path.exists(source):
            return [], set()
        o = os.path.join(self.obj, stem + ".o")
        said = self.compile(source, o)
        if said:
            raise BuildFailed("cannot compile %s\n%s" % (source, said[:4000]))
        return [o], object_defines(o)

    def generated(self, so, names):
        """objects with a stub of each name; how many are typed and untyped"""
        protos, have = prototypes(HEADERS.get(stem_of_soname(so), []), self.include)
        base = os.path.join(self.obj, so)
        while True:
            typed, untyped = emit(so, names, protos, have, base)
            said = self.compile(base + ".cpp", base + ".o")
            if not said:
                break
            with open(base + ".cpp") as file:
                lines = file.read().split("\n")
            bad = set()
            for n in set(re.findall(re.escape(base) + r"\.cpp:(\d+):\d+: error", said)):
                m = re.search(r"FAKE_EXPORT .*?(\w+)\(", lines[int(n) - 1])
                if m:
                    bad.add(m.group(1))
            if not bad & set(protos) and have:  # headers of another release: stubs without prototypes
                protos, have = {}, []
                continue
            if not bad & set(protos):
                raise BuildFailed("cannot compile %s.cpp\n%s" % (base, said[:4000]))
            for name in bad:  # a prototype that was misread: an untyped stub will do
                protos.pop(name, None)
        sh(self.cxx.replace("g++", "gcc"), "-O1", "-fPIC", "-w", "-c", base + ".c", "-o", base + ".c.o")
        return [base + ".o", base + ".c.o"], typed, untyped

    def link(self, so, objects, symbols, cudart):
        nodes = sorted({v for v in symbols.values() if v})
        words = [self.cxx, "-shared", "-o", os.path.join(self.out, so), "-Wl,-soname," + so] + objects
        if nodes:  # the first node takes everything that is not named in another one
            script = os.path.join(self.obj, so + ".map")
            with open(script, "w") as f:
                for i, node in enumerate(nodes):
                    names = sorted(s for s, v in symbols.items() if v == node)
                    rest = "cu*; __cuda*; nv*; fakecuda_*; local: *;" if i == 0 else ""
                    f.write("%s { global: %s%s };\n" % (node, "".join(n + "; " for n in names), rest))
            words.append("-Wl,--version-script," + script)
        if so != cudart:
            words += ["-L" + self.out, "-Wl,-rpath,$ORIGIN"]
            words += ["-Wl,--no-as-needed"] if stem_of_soname(so) in CORE else []
            words.append("-l:" + cudart)
        sh(*words, "-ldl", "-lpthread")


def build(out, include, cudart, libs, full=(), sonames=(), say=print):
    """Builds a stub of every CUDA library that `libs` need into `out`. `full`: (soname, real library) pairs to export whole.
    Errors: BuildFailed."""
    wanted = Wanted(list(sonames) + [cudart] + list(DEFAULT_SONAME.values()), libs)
    for soname, lib in full:
        wanted.whole(soname, lib)
    builder = Builder(out, include)
    core, core_symbols = builder.core()
    for so in [cudart] + sorted(s for s in wanted.sonames.values() if s != cudart):
        stem, symbols = stem_of_soname(so), wanted.symbols[so]
        objects, done = builder.by_hand(stem)
        objects = (core if so == cudart else []) + objects
        done = done | (core_symbols if stem in CORE else set())
        made, typed, untyped = builder.generated(so, [n for n in symbols if n not in done])
        builder.link(so, objects + made, symbols, cudart)
        say("%-24s %4d wanted, %3d by hand, %4d typed, %4d untyped" % (so, len(symbols), len(done & set(symbols)), typed, untyped))
    for lib, sym in wanted.lost:
        say("no library known for %s (%s)" % (sym, lib))


def main():
    ap = argparse.ArgumentParser(prog="stubs.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", required=True)
    ap.add_argument("--include", action="append", default=[], help="CUDA headers that match the libraries' version")
    ap.add_argument("--full", action="append", default=[], metavar="SONAME=LIB", help="also export every symbol that a real library exports")
    ap.add_argument("--soname", action="append", default=[], help="also make this library, empty if nothing asks for a symbol of it")
    ap.add_argument("--cudart", default="libcudart.so.13")
    ap.add_argument("libs", nargs="*")
    a = ap.parse_args()
    for soname in a.soname + [a.cudart]:
        if not stem_of_soname(soname):
            sys.exit("not a CUDA-family library: " + soname)
    try:
        build(a.out, a.include or ["/usr/local/cuda/include"], a.cudart, a.libs, [f.split("=", 1) for f in a.full], a.soname)
    except BuildFailed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
