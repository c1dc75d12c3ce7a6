#include "tests/support/lang_program.h"

using namespace tidemark;
using namespace tidemark::lang;

namespace {

constexpr std::uint16_t kBoxKind = 7;

/// A host type that users inherit from, intercepting attribute assignment as nn.Module does.
class Box final : public HostObject {
 public:
  Box(Interp& interp, Ref<ClassObject> type)
      : HostObject(interp.heap(), std::move(type), kBoxKind) {}
  static bool is(const Object& o) { return o.host_kind() == kBoxKind; }
  void store_attr(Interp& interp, Name name, Value value) override {
    if (value.as<Box>() != nullptr) {
      children.set(name, std::move(value));
    } else {
      HostObject::store_attr(interp, name, std::move(value));
    }
  }
  Value get_missing_attr(Interp& /*interp*/, Name name) override {
    const Value* found = children.find(name);
    return found == nullptr ? Value() : *found;
  }
  Value binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) override {
    if (op != BinaryOp::kMatMul) return {};
    return interp.str(reflected ? interp.repr(other) + "@box" : "box@" + interp.repr(other));
  }
  void traverse(Visitor& visitor) const override {
    HostObject::traverse(visitor);
    children.traverse(visitor);
  }
  AttrMap children;
};

constexpr FunctionRow kBoxMethods[] = {
    {"__init__(self)", [](Interp&, Arguments&) { return Value::none(); }},
    {"names(self, prefix='', /)",
     [](Interp& in, Arguments& args) {
       std::vector<Value> out;
       for (const AttrMap::Entry& entry : args.object<Box>(0, "Box").children.entries()) {
         out.push_back(in.str(args.text(1) + std::string(in.text(entry.name))));
       }
       return in.list(std::move(out));
     }},
};

constexpr FunctionRow kFunctions[] = {
    {"softmax(input, dim=None, _stacklevel=3, dtype=None)",
     [](Interp& in, Arguments& args) {
       return in.tuple({args[0], args[1], args[2], args[3]});
     }},
    {"view(self, *shape)",
     [](Interp& in, Arguments& args) {
       return in.tuple({args[0], args[1]});
     }},
    {"options(a, *, b=..., c=2.5, **rest)",
     [](Interp& in, Arguments& args) {
       return in.tuple({args[0], Value::boolean(args[1].empty()), args[2], args[3]});
     }},
    {"size_of(shape, name='x')",
     [](Interp& in, Arguments& args) {
       std::int64_t product = 1;
       for (const std::int64_t n : args.integers(0)) product *= n;
       return in.tuple({Value::integer(product), in.str(args.text(1))});
     }},
};

std::string run(const std::string& text, std::string* problems = nullptr) {
  LangProgram program;
  program.interp().add_module("host", [](Interp& in, Module& module) {
    add_functions(in, module, kFunctions);
    Ref<ClassObject> type =
        in.make_class("Box", "host", {}, [](Interp& interp, Ref<ClassObject> own) {
          return Ref<Instance>(make_ref<Box>(interp, std::move(own)));
        });
    add_methods(in, *type, kBoxMethods);
    // As nn.Module.__call__: wraps the user's forward.
    type->attrs.set(known(name::kCall),
                    in.raw_function("__call__", [](Interp& interp, CallArgs& args) {
                      CallArgs rest = args;
                      ++rest.values;
                      --rest.positional;
                      rest.movable = false;
                      return interp.call_method(args.values[0], known(name::kForward), rest);
                    }));
    module.set(in.intern("Box"), type);
    module.set(in.intern("OutOfMemoryError"),
               in.make_exception_class("OutOfMemoryError", "host", in.classes().runtime_error));
  });
  if (problems != nullptr) {
    *problems = program.problems(text);
    return {};
  }
  return program.run(text);
}

}  // namespace

TEST_CASE("host functions bind arguments by their signature") {
  CHECK(run("from host import softmax, view, options, size_of\nprint(softmax(1), softmax(1, "
            "dim=2), softmax(1, 2, dtype='f'), view(1), view(1, 2, 3))\n"
            "print(options(1), options(1, b=0, z=9), size_of((2, 3)), size_of(4, name='y'))") ==
        "(1, None, 3, None) (1, 2, 3, None) (1, 2, 3, 'f') (1, ()) (1, (2, 3))\n(1, True, 2.5, {}) "
        "(1, False, 2.5, {'z': 9}) (6, 'x') (4, 'y')\n");
  std::string problems;
  run("import host\nhost.softmax()", &problems);
  CHECK(problems ==
        "test.py:2:1: error: TypeError: softmax() missing 1 required positional argument: "
        "'input'\n    host.softmax()\n    ^~~~~~~~~~~~~~\n");
  run("import host\nhost.softmax(1, dimm=2)", &problems);
  CHECK(problems ==
        "test.py:2:1: error: TypeError: softmax() got an unexpected keyword argument 'dimm'; did "
        "you mean 'dim'?\n"
        "    host.softmax(1, dimm=2)\n    ^~~~~~~~~~~~~~~~~~~~~~~\n");
  run("import host\nhost.size_of('a')", &problems);
  CHECK(problems ==
        "test.py:2:1: error: TypeError: size_of(): argument 'shape' (position 1) must be int or "
        "tuple of ints, not str\n"
        "    host.size_of('a')\n    ^~~~~~~~~~~~~~~~~\n");
}

TEST_CASE("user classes inherit from host classes") {
  CHECK(run("from host import Box\nclass Net(Box):\n    def __init__(self, n):\n        "
            "super().__init__()\n        self.first, self.count = Box(), n\n        self.second = "
            "self.first\n"
            "    def forward(self, x, k=1): return x + self.count * k\n"
            "net = Net(3)\nprint(net.names('m.'), net(10), net(10, k=2), net.first is net.second, "
            "isinstance(net, Box), net @ 1, 'a' @ net)\n"
            "print(type(net).__name__, hasattr(net, 'third'))") ==
        "['m.first', 'm.second'] 13 16 True True box@1 'a'@box\nNet False\n");
}

TEST_CASE("a module call keeps its arguments until it returns") {
  CHECK(run("from host import Box\nclass Net(Box):\n    def forward(self, x):\n        x = None\n  "
            "      print('in forward')\nNet()(probe('input'))\nprint('returned')") ==
        "in forward\ndrop input\nreturned\n");
}

TEST_CASE("host exceptions are classes of the program") {
  CHECK(run("import host\ntry:\n    raise host.OutOfMemoryError('full')\nexcept RuntimeError as "
            "e:\n    print(type(e).__name__, e)") == "OutOfMemoryError full\n");
  std::string problems;
  run("import host\ndef f(): raise host.OutOfMemoryError('full')\nf()", &problems);
  CHECK(problems ==
        "test.py:2:10: error: host.OutOfMemoryError: full; in f, called from test.py:3:1 in "
        "<module>\n"
        "    def f(): raise host.OutOfMemoryError('full')\n             "
        "^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}

TEST_CASE("a run is stopped after its steps") {
  Limits limits;
  limits.steps = 1000;
  LangProgram program(limits);
  CHECK(program.problems("try:\n    while True:\n        pass\nexcept BaseException:\n    pass") ==
        "test.py:3:9: error: the program was stopped after 1000 steps; does a loop never end?\n    "
        "        pass\n            ^~~~\n");
}
