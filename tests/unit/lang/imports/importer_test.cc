#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "sim/lang/builtins/python.h"
#include "sim/library/library.h"

/// Python's import system. What is expected of each program is what CPython 3.11 prints.
namespace tidemark::lang {
namespace {

/// What main.py prints, or the first line of what is wrong with it.
std::string run(const std::map<std::string, std::string>& files, bool makes_placeholders = false,
                std::vector<std::string> packages = {}) {
  std::string out;
  Interp::Options options;
  options.print = [&](std::string_view text) { out += text; };
  std::vector<std::string> path = {""};
  path.insert(path.end(), packages.begin(), packages.end());
  options.imports = {library::python(), std::make_shared<TextFiles>(files), path, packages,
                     makes_placeholders};
  Python interp(std::move(options));
  try {
    interp.run(std::make_shared<const SourceText>(SourceText{"main.py", files.at("main.py")}),
               "__main__");
  } catch (const InputError& error) {
    out += error.problems().front().message;
  }
  return out;
}

TEST_CASE("a package's modules take from one another by dots, at any depth") {
  CHECK(run({{"main.py", "from p.a.b import deep\nprint(deep, __name__)\n"},
             {"p/__init__.py", "top = 1\n"},
             {"p/one.py", "one = 'one'\n"},
             {"p/a/__init__.py", "from ..one import one\n"},
             {"p/a/near.py", "from . import one\nfrom .. import top\nboth = (one, top)\n"},
             {"p/a/b.py",
              "from .near import both\nfrom ...p import one as module\n"
              "deep = (both, module.__name__, __name__, __package__)\n"}}) ==
        "ImportError: attempted relative import beyond top-level package");
  CHECK(run({{"main.py", "from p.a.b import deep\nprint(deep, __name__)\n"},
             {"p/__init__.py", "top = 1\n"},
             {"p/one.py", "one = 'one'\n"},
             {"p/a/__init__.py", "from ..one import one\n"},
             {"p/a/near.py", "from . import one\nfrom .. import top\nboth = (one, top)\n"},
             {"p/a/b.py",
              "from .near import both\nfrom .. import one as module\n"
              "deep = (both, module.__name__, __name__, __package__)\n"}}) ==
        "(('one', 1), 'p.one', 'p.a.b', 'p.a') __main__\n");
}

TEST_CASE("folders without __init__.py are packages, and import binds the first of its names") {
  CHECK(run({{"main.py",
              "import n.x.m\nimport n.x.m as short\nprint(n.x.m is short, short.v)\n"
              "import sys\nprint('n.x' in sys.modules, sys.modules['n.x.m'] is short)\n"},
             {"n/x/m.py", "v = 7\n"}}) == "True 7\nTrue True\n");
}

TEST_CASE("a circular import sees what is there, and says what is not") {
  CHECK(run({{"main.py", "import a\n"},
             {"a.py", "x = 1\nimport b\ny = 2\n"},
             {"b.py", "import a\nprint(a.x, hasattr(a, 'y'))\nfrom a import y\n"}}) ==
        "1 False\nImportError: cannot import name 'y' from partially initialized module 'a' (most "
        "likely due to a circular import) (a.py)");
}

TEST_CASE("a module may answer for names that it lacks, and put another in its place") {
  CHECK(run({{"main.py",
              "import m\nprint(m.anything, hasattr(m, 'no'))\nfrom m import other\n"
              "print(other)\nimport lazy\nprint(type(lazy).__name__, lazy.found)\n"},
             {"m.py",
              "def __getattr__(name):\n    if name == 'no':\n        raise AttributeError(name)\n"
              "    return 'made ' + name\n"},
             {"lazy.py",
              "import sys, types\n\nclass Lazy(types.ModuleType):\n"
              "    def __getattr__(self, name):\n        return 'lazily ' + name\n\n"
              "sys.modules[__name__] = Lazy(__name__)\n"}}) ==
        "made anything False\nmade other\nLazy lazily found\n");
}

TEST_CASE("a star takes what __all__ lists, modules among them, or the public names") {
  CHECK(run({{"main.py",
              "from p import *\nprint(sub.v, _hidden)\nfrom q import *\n"
              "print(shown, 'kept' in globals())\n"},
             {"p/__init__.py", "__all__ = ['sub', '_hidden']\n_hidden = 2\n"},
             {"p/sub.py", "v = 1\n"},
             {"q.py", "shown, _kept = 3, 4\n"}}) == "1 2\n3 False\n");
}

TEST_CASE("sys.path may be edited, and importlib says what is where") {
  CHECK(run({{"main.py",
              "import sys, importlib, importlib.util\n"
              "print(importlib.util.find_spec('m') is None)\nsys.path.insert(0, 'lib')\n"
              "spec = importlib.util.find_spec('m')\nprint(spec.name, spec.origin)\n"
              "print(importlib.import_module('m').v, importlib.import_module('.m', 'p').v)\n"
              "try:\n    import nowhere\nexcept ImportError as e:\n    print(e, e.name)\n"},
             {"lib/m.py", "v = 'lib'\n"},
             {"p/__init__.py", ""},
             {"p/m.py", "v = 'p'\n"}}) ==
        "True\nm lib/m.py\nlib p\nNo module named 'nowhere' nowhere\n");
}

TEST_CASE("an installed package is found with its version") {
  CHECK(run({{"main.py",
              "from importlib.metadata import version, PackageNotFoundError\nimport my_pkg\n"
              "print(version('my-pkg'), my_pkg.__spec__.name)\n"
              "try:\n    version('other')\nexcept PackageNotFoundError as e:\n    print(e)\n"},
             {"site/my_pkg/__init__.py", ""},
             {"site/my_pkg-1.2.dist-info/METADATA", "Name: my-pkg\nVersion: 1.2\n"}},
            false, {"site"}) == "1.2 my_pkg\nNo package metadata was found for other\n");
}

TEST_CASE("a module that is nowhere is refused when it is used, and told where it is asked for") {
  CHECK(run({{"main.py",
              "import pandas as pd\nfrom pandas.core import frame\n"
              "def f(x: pd.DataFrame): return isinstance(x, pd.DataFrame)\n"
              "print(f(1))\ntry:\n    import pandas\nexcept ImportError:\n    print('not there')\n"
              "pd.read_csv('x.csv')\n"}},
            true) ==
        "False\nnot there\npandas.read_csv cannot be used: there is no package 'pandas' here");
}

TEST_CASE("texts can be run where they are, in a dict, or beside a function's variables") {
  CHECK(run({{"main.py",
              "exec('a = 1')\nprint(a)\nscope = {'b': 2}\nexec('c = b + 1', scope)\n"
              "print(scope['c'], eval('b * c', scope))\n"
              "def f(x):\n    y = 2\n    return sorted(locals().items())\nprint(f(1))\n"
              "exec(open('more.txt').read())\nprint(more)\n"},
             {"more.txt", "more = 'read'\n"}}) == "1\n3 6\n[('x', 1), ('y', 2)]\nread\n");
}

/// Bodies that are hard to find the end of, and what a function's body says about the function.
constexpr const char* kBodies = R"py("""doc of m"""
count = 0

def plain(a, b=(1,
        2)):  # a comment ends the line
    text = """
def not_a_function():
at the margin
"""
    more = (
a, b)  # a bracket goes on at the margin
# so does a comment

    return len(text), more, '#', "\"", '\
'

async def later(): pass
def one_line(x): return x + 1

class Base:
    """doc of Base"""
    kind = "base"

    def name(self):
        return self.kind

    if count == 0:
        def conditional(self):
            "doc of conditional"
            def inner():
                return self.kind, count
            return inner()

class Derived(Base):
    kind = "derived"

    def name(self):
        global count
        count += 1
        return super().name(), __class__.__name__

    def values(self, n):
        for i in range(n):
            yield i

def tabs():
	if True:
		return 'tabs'
def told():
    # about it

    "it's" ''' told
  so'''
    return 1
def last(*args, k, **kwargs):
    return sorted(locals()))py";

TEST_CASE("the bodies of an installed package's functions are read when they are called") {
  const std::string program =
      "import m, inspect\n"
      "print(m.plain(1), m.one_line(2), m.__doc__, m.Base.__doc__)\n"
      "d = m.Derived()\n"
      "print(d.name(), m.count, d.conditional(), list(d.values(3)))\n"
      "print(m.Base.conditional.__doc__, m.plain.__doc__, m.Derived.values.__qualname__)\n"
      "print(inspect.isgeneratorfunction(m.Derived.values), inspect.signature(m.plain))\n"
      "print(m.tabs(), m.last(1, k=2, z=3), m.told.__doc__, m.told())\n";
  const std::string expected =
      "(37, (1, (1, 2)), '#', '\"', '') 3 doc of m doc of Base\n"
      "('derived', 'Derived') 1 ('derived', 1) [0, 1, 2]\n"
      "doc of conditional None Derived.values\n"
      "True (a, b=(1, 2))\n"
      "tabs ['args', 'k', 'kwargs'] it's told\n  so 1\n";
  CHECK(run({{"main.py", program}, {"site/m.py", kBodies}}, false, {"site"}) == expected);
  CHECK(run({{"main.py", program}, {"m.py", kBodies}}) == expected);
}

TEST_CASE(
    "what is wrong in a body of an installed package is told by the call, of others at once") {
  const std::string text =
      "def good():\n    number = 1\n    return number\n"
      "def bad():\n    number = = 2\n    return number\n";
  const std::string program = "import m\nprint(m.good())\nm.bad()\n";
  CHECK(run({{"main.py", program}, {"site/m.py", text}}, false, {"site"}) == "1\nunexpected '='");
  CHECK(run({{"main.py", program}, {"m.py", text}}) == "unexpected '='");
  const std::string open = "def bad():\n    x = '''\nprint(1)\n";
  CHECK(run({{"main.py", "import m\n"}, {"site/m.py", open}}, false, {"site"}) ==
        "unterminated triple-quoted string");
}

}  // namespace
}  // namespace tidemark::lang
