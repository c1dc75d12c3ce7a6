#include "sim/lang/imports/image.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "sim/base/name_hash.h"
#include "sim/lang/builtins/python.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/syntax/parser.h"
#include "sim/library/library.h"

namespace tidemark::lang {
namespace {

/// One file, resolved: what an image begins with here.
struct OneFile {
  NameTable names;
  GlobalTable globals;
  const Code* code = nullptr;
};
template <class Visit>
void each_member(const OneFile& f, const Visit& visit) {
  visit(f.names, f.globals, f.code);
}

std::shared_ptr<const SourceText> text(std::string_view code) {
  return std::make_shared<const SourceText>(SourceText{"<test.py>", std::string(code)});
}

/// What a build makes of a text.
Image image_of(std::string_view code) {
  Names names;
  GlobalNames globals;
  std::vector<Problem> problems;
  const std::shared_ptr<SyntaxTree> tree = parse_module(text(code), names, problems);
  REQUIRE(problems.empty());
  resolve(
      *tree, names, [&](Name name) { return globals.slot(name); }, problems);
  REQUIRE(problems.empty());
  const NamesOfImage table(names);
  return ImageWriter().write(OneFile{table.table(), globals.table(), tree->code});
}

/// An image in memory, its addresses filled in as a linker does.
class Loaded {
 public:
  explicit Loaded(const Image& image) : words_((image.bytes.size() + 7) / 8) {
    std::memcpy(words_.data(), image.bytes.data(), image.bytes.size());
    const auto base = reinterpret_cast<std::uintptr_t>(words_.data());
    for (const Image::Address& address : image.addresses)
      words_[address.at / sizeof(std::uint64_t)] = base + address.to;
  }
  [[nodiscard]] const OneFile& root() const {
    return *reinterpret_cast<const OneFile*>(words_.data());
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// What a text prints, run from an image of it.
std::string run_image(std::string_view code) {
  const Loaded loaded(image_of(code));
  const OneFile& file = loaded.root();
  std::string out;
  Interp::Options options;
  options.print = [&](std::string_view printed) { out += printed; };
  options.imports.library.names = &file.names;
  Python interp(std::move(options));
  const Ref<Module> module = make_ref<Module>(interp.heap(), "test", file.globals);
  try {
    interp.run_part(*module, *file.code, file.code->body);
  } catch (const InputError& error) {
    out += render_problems(error.problems());
  }
  return out;
}

/// The same, run from the text.
std::string run_text(std::string_view code) {
  std::string out;
  Interp::Options options;
  options.print = [&](std::string_view printed) { out += printed; };
  options.imports.library = library::python();
  Python interp(std::move(options));
  try {
    interp.run(text(code), "test");
  } catch (const InputError& error) {
    out += render_problems(error.problems());
  }
  return out;
}

// Every kind of expression, statement and pattern.
constexpr std::string_view kEverything = R"py(
import math as m
import _tidemark
from math import floor as down, ceil
total: int = 0
def counted(n, /, a=1, *rest, key=None, **options):
    global total
    total += n
    def inner():
        nonlocal a
        a **= 2
        return a, rest, key, options
    return inner
class Base:
    size: int = 4
    def __init__(self, name): self.name = name
    def __repr__(self): return f"{type(self).__name__}({self.name!r:>6}, {self.size:03d})"
class Derived(Base, metaclass=type):
    @property
    def twice(self): return self.size * 2
    @staticmethod
    def make(*names): return [Derived(n) for n in names if n]
    def __init__(self, name):
        super().__init__(name)
def numbers(n):
    for i in range(n):
        if i == 3: continue
        elif i > 5: break
        got = yield i
    else:
        yield from (-1, -2)
def sort_of(x):
    match x:
        case None | True: return "constant"
        case {"k": v, **others}: return v, others
        case [first, *_, last] if first != last: return first, last
        case Base(name="n") as b: return b
        case -1: return "minus one"
        case y: return y
with_lambda = sorted({3, 1, 2}, key=lambda v, w=-1.5: v * w)
print(counted(2, 3, 4, key="x", extra=...)(), total, Derived.make("a", "", "b"), Derived("c").twice)
print(list(numbers(4)), list(numbers(9)), [sort_of(x) for x in (None, {"k": 1, "z": 2}, [1, 2, 3], 7, -1)])
print(with_lambda, {k: v for k, v in zip("ab", (1, 2))}, {*"aa"}, [*(1, 2), 3][::2], 2j * 2, m.floor(2.5))
print("%s and %r" % (1, "q"), not 1 < 2 <= 2, 1 if total else 0, ~5 & 6 | 1, down(1.5), (lambda a, *b: a)(1, 2))
if (n := 10) > 5: print(n, "é\0".encode() if False else "text", _tidemark is None)
try:
    assert n == 0, "wrong"
except (ValueError, AssertionError) as e:
    print(type(e).__name__, e)
finally:
    del n
while True:
    pass
    break
class Guard:
    def __enter__(self): return self
    def __exit__(self, *error): return True
with Guard() as g, Guard():
    raise ValueError("x") from None
print(counted.__qualname__, Derived.make.__qualname__, sort_of(Base("n")), g is not None)
)py";

}  // namespace

TEST_CASE("a program runs from its image as it does from its text") {
  const std::string out = run_text(kEverything);
  CHECK(out.find("error") == std::string::npos);
  CHECK(run_image(kEverything) == out);
}

TEST_CASE("what goes wrong in an image is told with the same words and the same place") {
  constexpr std::string_view kWrong =
      "def f(a):\n    return a + nothing\n\nprint('before')\nf(1)\n";
  CHECK(run_image(kWrong) == run_text(kWrong));
  CHECK(run_image(kWrong).find("<test.py>:2:16") != std::string::npos);
}

TEST_CASE("the image of what was read from an image is the same image") {
  const Image first = image_of(kEverything);
  const Loaded loaded(first);
  const Image second = ImageWriter().write(loaded.root());
  CHECK(second.bytes == first.bytes);
  REQUIRE(second.addresses.size() == first.addresses.size());
  for (std::size_t i = 0; i < first.addresses.size(); ++i) {
    CHECK(second.addresses[i].at == first.addresses[i].at);
    CHECK(second.addresses[i].to == first.addresses[i].to);
  }
}

namespace {

/// What an image of one piece of code begins with.
struct OneCode {
  const Code* code = nullptr;
};
template <class Visit>
void each_member(const OneCode& c, const Visit& visit) {
  visit(c.code);
}

}  // namespace

TEST_CASE("every module of the library is linked in as its text says") {
  const LibraryRoots library = library::all();
  std::size_t modules = 0;
  for (const Library& root : library.roots) {
    for (const LibraryModule& module : root.modules) {
      if (module.code == nullptr) continue;
      CAPTURE(view(module.name));
      ++modules;
      Names names(library.names);
      GlobalNames globals;
      for (const LibraryName& each : module.names) globals.slot(each.name);
      std::vector<Problem> problems;
      const auto tree = parse_module(module.code->file->source(), names, problems);
      resolve(
          *tree, names, [&](Name name) { return globals.slot(name); }, problems);
      REQUIRE(problems.empty());
      CHECK(names.size() == library.names->entries.size);
      CHECK(globals.table().names.size == module.globals.names.size);
      const Image linked = ImageWriter().write(OneCode{module.code});
      const Image read = ImageWriter().write(OneCode{tree->code});
      CHECK(linked.bytes == read.bytes);
    }
  }
  CHECK(modules >= 50);
}

namespace {

/// What any member can be made from.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): that is its use
};
/// How many members a struct has, its base counted as one.
template <class T, class... Given>
consteval std::size_t members() {
  if constexpr (requires { T{Given{}..., Anything{}}; }) {
    return members<T, Given..., Anything>();
  } else {
    return sizeof...(Given);
  }
}
template <class T>
std::size_t visited() {
  std::size_t count = 0;
  each_member(T{}, [&](const auto&... each) { count += sizeof...(each); });
  return count;
}
/// Whether each_member() knows every member. `Base`: what T derives from; T itself: nothing.
template <class Base, class... T>
bool all_are_visited() {
  return ((visited<T>() == members<T>() + (std::is_same_v<Base, T> ? 0 : visited<Base>() - 1)) &&
          ...);
}

}  // namespace

TEST_CASE("no member of a node is forgotten in an image") {
  static_assert(members<Place>() == 2);
  static_assert(members<NameExpr>() == 4);
  CHECK(all_are_visited<Place, Place>());
  CHECK(all_are_visited<Literal, Literal>());
  CHECK(all_are_visited<JoinedPart, JoinedPart>());
  CHECK(all_are_visited<Comparison, Comparison>());
  CHECK(all_are_visited<Keyword, Keyword>());
  CHECK(all_are_visited<Clause, Clause>());
  CHECK(all_are_visited<Parameter, Parameter>());
  CHECK(all_are_visited<Parameters, Parameters>());
  CHECK(all_are_visited<FunctionNode, FunctionNode>());
  CHECK(all_are_visited<WithItem, WithItem>());
  CHECK(all_are_visited<Handler, Handler>());
  CHECK(all_are_visited<ImportedName, ImportedName>());
  CHECK(all_are_visited<MatchCase, MatchCase>());
  CHECK(all_are_visited<Code::Capture, Code::Capture>());
  CHECK(all_are_visited<Code, Code>());
  CHECK(all_are_visited<Expr, Expr, NameExpr, ConstantExpr, JoinedExpr, SequenceExpr, DictExpr,
                        UnaryExpr, NotExpr, BinaryExpr, BoolExpr, CompareExpr, ConditionalExpr,
                        CallExpr, AttributeExpr, SubscriptExpr, SliceExpr, StarredExpr, LambdaExpr,
                        ComprehensionExpr, NamedExpr>());
  CHECK(all_are_visited<Stmt, Stmt, ExprStmt, AssignStmt, AugAssignStmt, AnnotatedStmt, DeleteStmt,
                        ReturnStmt, IfStmt, WhileStmt, ForStmt, FunctionStmt, ClassStmt, WithStmt,
                        TryStmt, RaiseStmt, AssertStmt, ImportStmt, ImportFromStmt, YieldStmt,
                        NameListStmt, MatchStmt>());
  CHECK(all_are_visited<Pattern, Pattern, ValuePattern, CapturePattern, SequencePattern,
                        MappingPattern, ClassPattern, OrPattern>());
}

TEST_CASE("an interpreter's names begin with those of an image") {
  const Loaded loaded(image_of("first = 'a text'\nsecond = first\n"));
  const NameTable& table = loaded.root().names;
  Names names(&table);
  CHECK(names.size() == table.entries.size);
  CHECK(names.intern("__init__") == known(name::kInit));
  CHECK(names.text(names.intern("first")) == "first");
  CHECK(static_cast<std::uint32_t>(names.intern("second")) < table.entries.size);
  // Its own come behind them.
  const Name fresh = names.intern("fresh");
  CHECK(static_cast<std::uint32_t>(fresh) == table.entries.size);
  CHECK(names.intern("fresh") == fresh);
  CHECK(names.text(fresh) == "fresh");
  Name found{};
  CHECK(names.find("a text", &found));
  CHECK(names.hash(found) == hash_name("a text"));
  CHECK_FALSE(names.find("never", &found));
  for (int i = 0; i < 2000; ++i) names.intern(std::to_string(i));
  CHECK(names.text(names.intern("1234")) == "1234");
  CHECK(names.size() == table.entries.size + 2001);
}

TEST_CASE("an image's text gives each word and names each address") {
  const Image image = image_of("x = 1\n");
  std::ostringstream out;
  write_assembler(image, "some_image", out);
  const std::string written = out.str();
  CHECK(written.find("\t.globl some_image\n") != std::string::npos);
  std::size_t words = 0;
  std::size_t addresses = 0;
  for (std::size_t at = written.find("\t.quad "); at != std::string::npos;
       at = written.find("\t.quad ", at + 1)) {
    ++words;
    if (written.compare(at, 18, "\t.quad some_image+") == 0) ++addresses;
  }
  CHECK(words == (image.bytes.size() + 7) / 8);
  CHECK(addresses == image.addresses.size());
}

}  // namespace tidemark::lang
