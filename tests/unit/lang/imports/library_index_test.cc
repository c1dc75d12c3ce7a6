#include <algorithm>
#include <array>

#include "sim/lang/imports/library_index.h"
#include "sim/lang/imports/library_reader.h"
#include "tests/support/lang_program.h"

using namespace tidemark;
using namespace tidemark::lang;

namespace {

using Kind = LibraryName::Kind;

/// A file as the build reads it; `sum` is a built-in.
struct ReadFile {
  explicit ReadFile(std::string text)
      : source(std::make_shared<const SourceText>(SourceText{"m.py", std::move(text)})),
        entries(read_library_file(
            source, names, [](std::string_view name) { return name == "sum"; }, problems)) {}

  [[nodiscard]] const LibraryName& at(std::string_view name) const {
    const auto found = std::find_if(entries.names.begin(), entries.names.end(),
                                    [&](const LibraryName& each) { return each.name == name; });
    REQUIRE(found != entries.names.end());
    return *found;
  }
  [[nodiscard]] std::string_view text(Place place) const {
    return std::string_view(source->text).substr(place.begin, place.end - place.begin);
  }

  Names names;
  std::vector<Problem> problems;
  std::shared_ptr<const SourceText> source;
  LibraryEntries entries;
};

/// A library of one root whose files are read from their texts, for as long as it lives.
class SmallLibrary {
 public:
  explicit SmallLibrary(std::vector<std::pair<std::string, std::string>> files)
      : texts_(std::move(files)) {
    for (const auto& [name, text] : texts_) {
      const ReadFile& file = *files_.emplace_back(std::make_unique<ReadFile>(text));
      REQUIRE(file.problems.empty());
      modules_.push_back(
          {name, name, file.source->text, file.entries.names, file.entries.statements});
    }
    root_.modules = modules_;
  }

  /// What a program prints.
  std::string run(const std::string& text) {
    std::string printed;
    Interp::Options options;
    options.print = [&](std::string_view line) { printed += line; };
    options.library = roots_;
    Python interp(std::move(options));
    interp.run(std::make_shared<const SourceText>(SourceText{"test.py", text}), "__main__");
    return printed;
  }

 private:
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::unique_ptr<ReadFile>> files_;
  std::vector<LibraryModule> modules_;
  Library root_;
  std::array<const Library*, 1> roots_{&root_};
};

}  // namespace

TEST_CASE("the index of a file has every name of its top level and where it comes from") {
  const ReadFile file(
      "\"\"\"what it is\"\"\"\n"
      "import a.b, c.d as e\n"
      "from f import g, h as i\n"
      "x, (y, *z) = 1, (2, 3)\n"
      "\n"
      "@g\n"
      "def first():\n"
      "    inner = 1\n"
      "    return inner\n"
      "\n"
      "class Second:\n"
      "    member = 1\n"
      "\n"
      "for k in range(3):\n"
      "    x += k\n"
      "y = 4\n");
  CHECK(file.problems.empty());
  CHECK(file.entries.names.size() == 10);  // a e g i x y z first Second k
  CHECK(file.at("a").kind == Kind::kModule);
  CHECK(file.at("a").module == "a");
  CHECK(file.at("e").module == "c.d");
  CHECK(file.at("i").kind == Kind::kMember);
  CHECK(file.at("i").module == "f");
  CHECK(file.at("i").member == "h");
  CHECK(file.text(file.at("first").place).starts_with("@g\ndef first():\n"));
  CHECK(file.text(file.at("Second").place) == "class Second:\n    member = 1\n\n");
  CHECK(file.at("k").kind == Kind::kStatement);
  REQUIRE(file.entries.statements.size() == 2);
  CHECK(file.text(file.entries.statements[0]) == "x, (y, *z) = 1, (2, 3)\n\n");
  CHECK(file.text(file.entries.statements[1]) == "for k in range(3):\n    x += k\ny = 4\n");
}

TEST_CASE("what has a built-in's name or shares its line is run with the statements") {
  const ReadFile file("def sum(x):\n    return x\n\nimport a; b = 1\n");
  CHECK(file.at("sum").kind == Kind::kStatement);
  CHECK(file.at("a").kind == Kind::kStatement);
  REQUIRE(file.entries.statements.size() == 1);
  CHECK(file.text(file.entries.statements[0]) == file.source->text);
}

TEST_CASE("a name of the library is bound once and taken from a whole module name") {
  CHECK(render_problems(ReadFile("def f():\n    pass\n\n\nf = 1\n").problems) ==
        "m.py:5:1: error: 'f' is bound twice at top level; a definition of the library is run when "
        "its name is asked for: give one another name\n"
        "    f = 1\n"
        "    ^\n");
  CHECK(render_problems(ReadFile("from . import f\n").problems) ==
        "m.py:1:1: error: a file of the library takes names by a module's whole name; write from "
        "package.module import name\n"
        "    from . import f\n"
        "    ^~~~~~~~~~~~~~~\n");
}

TEST_CASE("a star takes the public names, each from where it is defined") {
  const ReadFile file("import a\nfrom b import c as d\n_own = 1\n\n\ndef e():\n    pass\n");
  const std::vector<LibraryName> names = public_names("m", file.entries);
  REQUIRE(names.size() == 2);
  CHECK((names[0].name == "d" && names[0].module == "b" && names[0].member == "c"));
  CHECK((names[1].name == "e" && names[1].module == "m" && names[1].member == "e"));
}

TEST_CASE("a file of the library is run as far as its names are asked for") {
  SmallLibrary library({{"m",
                         "print('statements')\nbase = 1\n\n\nclass C:\n    print('class')\n    n = "
                         "base\n\n\ndef f():\n    return C.n\n"}});
  CHECK(library.run("import m\nprint('imported')\nprint(m.f())\nprint(m.f())") ==
        "imported\nstatements\nclass\n1\n1\n");
  CHECK(library.run("from m import base\nprint(base)") == "statements\n1\n");
  CHECK(library.run("from m import *\nprint(f(), C.n)") == "statements\nclass\n1 1\n");
  CHECK(library.run("import m\nprint(sorted(n for n in ('C', 'f', 'g') if hasattr(m, n)))") ==
        "statements\nclass\n['C', 'f']\n");
}

TEST_CASE("modules of the library may import each other in a circle") {
  SmallLibrary library(
      {{"a", "from b import g\n\n\ndef f(n):\n    return g(n)\n"},
       {"b", "from a import f\n\n\ndef g(n):\n    return f(n - 1) if n else 7\n"}});
  CHECK(library.run("import a\nprint(a.f(3))") == "7\n");
}

TEST_CASE("what a program sets in a module of the library stays") {
  SmallLibrary library({{"m", "rate = 1\n\n\ndef f():\n    return rate\n"}});
  CHECK(library.run("import m\nm.rate = 5\nprint(m.f(), m.rate)") == "5 5\n");
}

TEST_CASE("a package's own name hides its module of that name, whoever imports that first") {
  SmallLibrary library(
      {{"p", "from p.scale import scale\n"}, {"p.scale", "def scale(x):\n    return 2 * x\n"}});
  CHECK(library.run("import p\nprint(p.scale(1))") == "2\n");
  CHECK(library.run("import p.scale\nimport p\nprint(p.scale(1))") == "2\n");
  CHECK(library.run("from p.scale import scale\nimport p\nprint(scale(1), p.scale(2))") == "2 4\n");
}

TEST_CASE("every name of Python's library can be made") {
  LangProgram program;
  program.run("");
  std::size_t names = 0;
  for (const LibraryModule& file : library::python().front()->modules) {
    CAPTURE(file.name);
    const Ref<Module> module = program.interp().import(file.name);
    for (const LibraryName& each : file.names) {
      CAPTURE(each.name);
      CHECK_NOTHROW(program.interp().get_attr(module, program.interp().intern(each.name)));
      ++names;
    }
  }
  CHECK(names > 500);
}
