#include <algorithm>
#include <deque>
#include <optional>

#include "sim/lang/imports/image.h"
#include "sim/lang/imports/library_index.h"
#include "sim/lang/imports/library_reader.h"
#include "tests/support/lang_program.h"

using namespace tidemark;
using namespace tidemark::lang;

namespace {

/// A file as the build reads it; `sum` is a built-in.
struct ReadFile {
  explicit ReadFile(std::string text) : ReadFile(std::move(text), own_names) {}
  ReadFile(std::string text, Names& given)
      : names(given),
        source(std::make_shared<const SourceText>(SourceText{"m.py", std::move(text)})),
        entries(read_library_file(
            source, names, [](std::string_view name) { return name == "sum"; }, problems)) {}

  [[nodiscard]] const LibraryName& at(std::string_view name) const {
    const auto found =
        std::find_if(entries.names.begin(), entries.names.end(),
                     [&](const LibraryName& each) { return names.text(each.name) == name; });
    REQUIRE(found != entries.names.end());
    return *found;
  }
  [[nodiscard]] StmtKind kind_of(std::string_view name) const {
    REQUIRE(at(name).definition.size == 1);
    return at(name).definition[0]->kind;
  }

  Names own_names;
  Names& names;
  std::vector<Problem> problems;
  std::shared_ptr<const SourceText> source;
  LibraryEntries entries;
};

/// Import names and texts.
using Files = std::vector<std::pair<std::string, std::string>>;

/// A library of one root whose files are read from their texts, for as long as it lives.
class SmallLibrary {
 public:
  explicit SmallLibrary(Files files) : texts_(std::move(files)) {
    for (const auto& [name, text] : texts_) {
      ReadFile& file = *files_.emplace_back(std::make_unique<ReadFile>(text, names_));
      modules_.push_back(
          resolve_library_file({name.data(), static_cast<std::uint32_t>(name.size())}, file.entries,
                               globals_.emplace_back(), names_, file.problems));
      REQUIRE(file.problems.empty());
    }
    of_image_.emplace(names_);
    table_ = of_image_->table();
    root_.modules = {modules_.data(), static_cast<std::uint32_t>(modules_.size())};
  }

  /// What a program prints.
  std::string run(const std::string& text) {
    std::string printed;
    Interp::Options options;
    options.print = [&](std::string_view line) { printed += line; };
    options.imports.library = {&table_, {&root_, 1}};
    Python interp(std::move(options));
    interp.run(std::make_shared<const SourceText>(SourceText{"test.py", text}), "__main__");
    return printed;
  }

 private:
  Files texts_;
  Names names_;
  std::vector<std::unique_ptr<ReadFile>> files_;
  std::deque<GlobalNames> globals_;
  std::vector<LibraryModule> modules_;
  std::optional<NamesOfImage> of_image_;
  NameTable table_;
  Library root_;
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
  CHECK(file.at("a").kind == LibraryName::Kind::kModule);
  CHECK(file.names.text(file.at("a").module) == "a");
  CHECK(file.names.text(file.at("e").module) == "c.d");
  CHECK(file.at("i").kind == LibraryName::Kind::kMember);
  CHECK(file.names.text(file.at("i").module) == "f");
  CHECK(file.names.text(file.at("i").member) == "h");
  CHECK(file.kind_of("first") == StmtKind::kFunction);
  CHECK(file.kind_of("Second") == StmtKind::kClass);
  CHECK(file.at("k").kind == LibraryName::Kind::kStatement);
  REQUIRE(file.entries.statements.size() == 3);
  CHECK(file.entries.statements[0]->kind == StmtKind::kAssign);
  CHECK(file.entries.statements[1]->kind == StmtKind::kFor);
  CHECK(file.entries.statements[2]->kind == StmtKind::kAssign);
}

TEST_CASE("what has a built-in's name is run with the statements") {
  const ReadFile file("def sum(x):\n    return x\n\nimport a; b = 1\n");
  CHECK(file.at("sum").kind == LibraryName::Kind::kStatement);
  CHECK(file.at("a").kind == LibraryName::Kind::kModule);
  REQUIRE(file.entries.statements.size() == 2);
  CHECK(file.entries.statements[0]->kind == StmtKind::kFunction);
  CHECK(file.entries.statements[1]->kind == StmtKind::kAssign);
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
  Names& names = file.names;
  const std::vector<LibraryName> taken = public_names(names.intern("m"), file.entries, names);
  REQUIRE(taken.size() == 2);
  const auto is = [&](const LibraryName& each, std::string_view name, std::string_view module,
                      std::string_view member) {
    return names.text(each.name) == name && names.text(each.module) == module &&
           names.text(each.member) == member;
  };
  CHECK(is(taken[0], "d", "b", "c"));
  CHECK(is(taken[1], "e", "m", "e"));
}

TEST_CASE("a file of the library is run as far as its names are asked for") {
  SmallLibrary library(
      Files{{"m",
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
      Files{{"a", "from b import g\n\n\ndef f(n):\n    return g(n)\n"},
            {"b", "from a import f\n\n\ndef g(n):\n    return f(n - 1) if n else 7\n"}});
  CHECK(library.run("import a\nprint(a.f(3))") == "7\n");
}

TEST_CASE("what a program sets in a module of the library stays") {
  SmallLibrary library(Files{{"m", "rate = 1\n\n\ndef f():\n    return rate\n"}});
  CHECK(library.run("import m\nm.rate = 5\nprint(m.f(), m.rate)") == "5 5\n");
}

TEST_CASE("a package's own name hides its module of that name, whoever imports that first") {
  SmallLibrary library(Files{{"p", "from p.scale import scale\n"},
                             {"p.scale", "def scale(x):\n    return 2 * x\n"}});
  CHECK(library.run("import p\nprint(p.scale(1))") == "2\n");
  CHECK(library.run("import p.scale\nimport p\nprint(p.scale(1))") == "2\n");
  CHECK(library.run("from p.scale import scale\nimport p\nprint(scale(1), p.scale(2))") == "2 4\n");
}

TEST_CASE("every name of Python's library can be made") {
  LangProgram program;
  program.run("");
  std::size_t names = 0;
  for (const LibraryModule& file : library::python().roots.front().modules) {
    CAPTURE(view(file.name));
    const Ref<Module> module = program.interp().import(view(file.name));
    for (const LibraryName& each : file.names) {
      CAPTURE(program.interp().text(each.name));
      CHECK_NOTHROW(program.interp().get_attr(module, each.name));
      ++names;
    }
  }
  CHECK(names > 500);
}
