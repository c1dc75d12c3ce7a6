#include <string>
#include <vector>

#include "sim/base/problem.h"
#include "sim/format/whole_file.h"
#include "sim/run/run.h"

namespace tidemark {
namespace {

RunResult run_text(const std::string& text) {
  return run(parse_scenario(std::make_shared<const SourceText>(SourceText{"s.yaml", text}), "."));
}

std::string problems_of(const std::string& text) {
  try {
    run_text(text);
  } catch (const InputError& error) {
    return render_problems(error.problems());
  }
  return "none";
}

/// The op's declaration between a head and a loop that calls it.
std::string scenario(const std::string& ops, const std::string& loop) {
  std::string text =
      "schema_version: 1\ndevice: h100\nparams: {width: 4}\nops:\n" + ops + "loop: |\n";
  std::size_t begin = 0;
  while (begin < loop.size()) {
    const std::size_t end = loop.find('\n', begin);
    text += "  " + loop.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

/// "+512 -512": what was asked for and dropped from mark() on, in bytes as asked for.
std::string requests(const RunResult& result) {
  std::string out;
  const DeviceResult& device = result.devices[0];
  for (std::uint32_t i = device.points.at(0).event; i < device.events.size(); ++i) {
    const Event& event = device.events[i];
    const bool is_alloc = event.action == Action::kAlloc;
    if (!is_alloc && event.action != Action::kFreeRequested) continue;
    out += fmt::format("{}{}{}", out.empty() ? "" : " ", is_alloc ? '+' : '-', event.bytes);
  }
  return out;
}

constexpr const char* kAttention = R"yaml(ops:
  flash_attn.flash_attn_func:
    args: q, k, v, dropout_p=0.0, softmax_scale=None, causal=False
    let:
      rounded: (q.shape[1] + 127) // 128 * 128
      padded: (q.shape[3] + 31) // 32 * 32
    forward:
      - q: {contiguous: q}
      - k: {contiguous: k}
      - v: {contiguous: v}
      - out: {like: q}
      - lse: {shape: (q.size(0), q.size(2), q.size(1)), dtype: float32}
      - rng: {shape: 2, dtype: int64}
    returns: out
    saves: [q, k, v, out, lse, rng]
    backward:
      - dout: {contiguous: grad_out}
      - dq: {like: q}
      - dk: {like: k}
      - dv: {like: v}
      - delta: {shape: (q.size(0), q.size(2), rounded), dtype: float32}
      - dq_accum: {shape: (q.size(0), rounded, q.size(2), padded), dtype: float32}
    gradients: {q: dq, k: dk, v: dv}
)yaml";

}  // namespace

TEST_CASE("a flash attention declared as a custom op has the events of PyTorch's own function") {
  // The golden is a torch.autograd.Function that PyTorch ran; here the same memory is declared.
  std::string text =
      read_whole_file(TIDEMARK_SOURCE_DIR "/tests/golden/hunted/attention_function.yaml");
  const RunResult as_function = run_text(text);
  const std::size_t begin = text.find("    class FlashAttnFunc");
  const std::size_t end = text.find("    class Attention(");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  // All before `class Attention` goes: the function, its helper, flash_attn_func.
  const std::size_t code = text.find("  code: |\n") + 10;
  text.replace(code, end - code, "    from flash_attn import flash_attn_func\n");
  text.insert(text.find("model:\n"), kAttention);
  const RunResult as_op = run_text(text);
  CHECK(as_op.devices[0].events.size() == 545);
  const auto plain = [](std::vector<Event> events) {
    for (Event& event : events) event.instruction = 0;
    return events;
  };
  CHECK((plain(as_op.devices[0].events) == plain(as_function.devices[0].events)));
  CHECK(as_op.program.labels.size() > 0);
  bool labelled = false;
  for (const LabelId label : as_op.devices[0].labels) {
    labelled = labelled || as_op.program.labels.text(label) == "layers.0: flash_attn_funcBackward";
  }
  CHECK(labelled);
}

TEST_CASE("temporaries of a custom op come and go in the order of its steps") {
  // x: 4 x 4 floats, 64 bytes. a and b die in the order they were made, c when freed.
  const RunResult result =
      run_text(scenario(R"yaml(  torch.ops.mine.twice:
    args: x, wide=True
    forward:
      - a: {bytes: x.nbytes * 10}
      - c: {shape: [3, width], dtype: x.dtype}
      - y: {like: x, dtype: float64}
      - free: c
      - b: {bytes: 7, when: wide}
      - left_out: {bytes: 9, when: not wide}
    returns: [y, null]
    saves: [x]
    backward:
      - dx: {like: x}
      - t: {bytes: 20}
    gradients: {x: dx}
)yaml",
                        R"py(x = torch.zeros(4, 4, device="cuda", requires_grad=True)
g = torch.zeros(4, 4, device="cuda", dtype=torch.float64)
mark("here")
y, none = torch.ops.mine.twice(x)
assert none is None and y.requires_grad
y.backward(g)
)py"));
  // backward: the gradient becomes x.grad, the temporary dies at the end of the node.
  CHECK(requests(result) == "+640 +48 +128 -48 +7 -640 -7 +64 +20 -20");
}

TEST_CASE("a kept workspace is asked for once, a method and a plain name are found") {
  const RunResult result = run_text(scenario(R"yaml(  torch.Tensor.squash:
    args: self
    forward:
      - space: {bytes: 1000, keep: true}
      - y: {shape: self.numel()}
    returns: y
  fused_scale:
    args: x
    forward:
      - y: {like: x}
    returns: y
)yaml",
                                             R"py(x = torch.zeros(8, device="cuda")
mark("here")
a = x.squash()
b = x.squash()
c = fused_scale(b)
)py"));
  CHECK(requests(result) == "+1000 +32 +32 +32");
}

TEST_CASE("every problem of a declaration is told with its place") {
  CHECK(
      problems_of(R"yaml(schema_version: 1
device: h100
ops:
  9lives:
    args: x
    forward: [{y: {like: x}}]
    returns: y
  pkg.broken:
    args: q, k=(
    forward: lots
    returns: y
    colour: red
  pkg.op:
    args: q, k
    let:
      n: q.shape[0] +
    forward:
      - out: {like: qq}
      - both: {shape: 3, bytes: 4}
      - nothing: {}
      - lse: {shape: [n, "2 *"], dtyp: float32}
      - free: ouf
      - [1, 2]
    returns: oot
    saves: [q, q, rest]
    backward:
      - dq: {contiguous: k}
    gradients: {q: dqq, z: dq}
loop: pass
)yaml") ==
      R"text(s.yaml:4:3: error: ops: '9lives' is no name of an op; names with dots between them: flash_attn.flash_attn_func
      9lives:
      ^~~~~~
s.yaml:9:11: error: ops.pkg.broken.args: expected parameters as Python writes them, found 'q, k=('; q, k, v, dropout_p=0.0
        args: q, k=(
              ^~~~~~
s.yaml:10:14: error: ops.pkg.broken.forward: expected a list of steps, found 'lots'
        forward: lots
                 ^~~~
s.yaml:11:14: error: ops.pkg.broken.returns: 'y' is not made in forward
        returns: y
                 ^
s.yaml:12:5: error: ops.pkg.broken: unknown key 'colour'
        colour: red
        ^~~~~~
s.yaml:16:22: error: ops.pkg.op.let.n: expected an expression, found the end of the text
    q.shape[0] +
                ^
s.yaml:18:21: error: ops.pkg.op.forward[0].like: there is no tensor 'qq' here; did you mean 'q'?
          - out: {like: qq}
                        ^~
s.yaml:19:33: error: ops.pkg.op.forward[1].bytes: cannot stand beside shape
          - both: {shape: 3, bytes: 4}
                                    ^
s.yaml:20:9: error: ops.pkg.op.forward[2]: what 'nothing' is, is missing; give shape, like, contiguous or bytes
          - nothing: {}
            ^~~~~~~
s.yaml:21:30: error: ops.pkg.op.forward[3].shape: expected an expression, found the end of the text
    2 *
       ^
s.yaml:21:34: error: ops.pkg.op.forward[3]: unknown key 'dtyp'; did you mean 'dtype'?
          - lse: {shape: [n, "2 *"], dtyp: float32}
                                     ^~~~
s.yaml:22:15: error: ops.pkg.op.forward[4]: 'ouf' is not there to be freed; did you mean 'out'?
          - free: ouf
                  ^~~
s.yaml:23:9: error: ops.pkg.op.forward[5]: expected one step, NAME: {...} or free: NAME, found a list
          - [1, 2]
            ^
s.yaml:24:14: error: ops.pkg.op.returns: 'oot' is not made in forward; did you mean 'out'?
        returns: oot
                 ^~~
s.yaml:25:16: error: ops.pkg.op.saves: 'q' stands here twice
        saves: [q, q, rest]
                   ^
s.yaml:25:19: error: ops.pkg.op.saves: 'rest' is neither an argument nor made in forward
        saves: [q, q, rest]
                      ^~~~
s.yaml:27:26: error: ops.pkg.op.backward[0].contiguous: the memory of 'k' is not there in backward; add k to saves
          - dq: {contiguous: k}
                             ^
s.yaml:28:20: error: ops.pkg.op.gradients.q: 'dqq' is not made in backward; did you mean 'dq'?
        gradients: {q: dqq, z: dq}
                       ^~~
s.yaml:28:25: error: ops.pkg.op.gradients.z: there is no argument 'z'; did you mean 'k'?
        gradients: {q: dqq, z: dq}
                            ^
)text");
}

TEST_CASE("what goes wrong in a call is told at the declaration") {
  const std::string loop =
      "x = torch.zeros(4, 4, device='cuda', requires_grad=True)\npkg.op(x).sum().backward()\n";
  const auto with = [&](const std::string& steps) {
    return problems_of(scenario("  pkg.op:\n    args: x\n" + steps, "import pkg\n" + loop));
  };
  CHECK(
      with("    forward: [{y: {like: x}}]\n    returns: y\n") ==
      R"text(s.yaml:5:3: error: ops.pkg.op: a gradient goes through this op, which has no backward; add backward and gradients
      pkg.op:
      ^~~~~~
)text");
  CHECK(
      with("    forward: [{y: {shape: x.shape / 2}}]\n    returns: y\n") ==
      R"text(s.yaml:7:27: error: ops.pkg.op.forward[0].shape: TypeError: unsupported operand type(s) for /: 'Size' and 'int'
        forward: [{y: {shape: x.shape / 2}}]
                              ^~~~~~~~~~~
)text");
  CHECK(
      with("    forward: [{y: {shape: (lots, 2)}}]\n    returns: y\n") ==
      R"text(s.yaml:7:27: error: ops.pkg.op.forward[0].shape: NameError: name 'lots' is not defined
        forward: [{y: {shape: (lots, 2)}}]
                              ^~~~~~~~~
)text");
  CHECK(
      with("    forward: [{y: {shape: (2.5, 2)}}]\n    returns: y\n") ==
      R"text(s.yaml:7:27: error: ops.pkg.op.forward[0].shape: expected a shape: whole numbers of 0 or more, found (2.5, 2)
        forward: [{y: {shape: (2.5, 2)}}]
                              ^~~~~~~~
)text");
  CHECK(
      with("    forward: [{y: {shape: 2, dtype: 4}}]\n    returns: y\n") ==
      R"text(s.yaml:7:37: error: ops.pkg.op.forward[0].dtype: expected a dtype (float32, q.dtype), found 4
        forward: [{y: {shape: 2, dtype: 4}}]
                                        ^
)text");
  CHECK(
      with("    forward: [{y: {bytes: -1}}]\n    returns: y\n") ==
      R"text(s.yaml:7:27: error: ops.pkg.op.forward[0].bytes: expected a whole number of bytes, 0 or more, found -1
        forward: [{y: {bytes: -1}}]
                              ^~
)text");
  CHECK(
      with("    forward: [{y: {like: x}}]\n    returns: y\n    backward: [{dx: {shape: 3}}]\n"
           "    gradients: {x: dx}\n") ==
      R"text(s.yaml:5:3: error: ops.pkg.op: the gradient of 'x' has the shape [3], but 'x' has [4, 4]
      pkg.op:
      ^~~~~~
)text");
  CHECK(
      problems_of(
          scenario("  torch.relu:\n    args: x\n    forward: [{y: {like: x}}]\n    returns: y\n",
                   "pass\n")) ==
      R"text(s.yaml:5:3: error: ops.torch.relu: 'torch.relu' is there already; give the op a name of its own: torch.ops.mine.relu
      torch.relu:
      ^~~~~~~~~~
)text");
  CHECK(
      problems_of(scenario("  pkg.f: {function: nowhere.f}\n", "pass\n")) ==
      R"text(s.yaml:5:21: error: ops.pkg.f.function: ModuleNotFoundError: No module named 'nowhere'
      pkg.f: {function: nowhere.f}
                        ^~~~~~~~~
)text");
}

TEST_CASE("an operator that is not modelled points at custom ops") {
  const auto of = [](const std::string& line) {
    return problems_of("schema_version: 1\ndevice: h100\nloop: |\n  " + line + "\n");
  };
  CHECK(
      of("torch.nowhere_(torch.zeros(2))") ==
      R"text(s.yaml:4:9: error: AttributeError: module 'torch' has no attribute 'nowhere_'; declare it as a custom op: docs/scenario.md; docs/language.md lists what is modelled
    torch.nowhere_(torch.zeros(2))
          ^~~~~~~~
)text");
  CHECK(
      of("torch.zeros(2).nowhere_at_all()") ==
      R"text(s.yaml:4:18: error: AttributeError: 'Tensor' object has no attribute 'nowhere_at_all'; declare it as a custom op: docs/scenario.md; docs/language.md lists what is modelled
    torch.zeros(2).nowhere_at_all()
                   ^~~~~~~~~~~~~~
)text");
  CHECK(
      of("import flash_attn; flash_attn.f()") ==
      R"text(s.yaml:4:22: error: flash_attn.f cannot be used: there is no package 'flash_attn' here; give the folder that it is installed in (--packages DIR), declare what it computes as a custom op (docs/scenario.md, 'Custom ops'), or record the run (tidemark record)
    import flash_attn; flash_attn.f()
                       ^~~~~~~~~~~~~~
)text");
}

}  // namespace tidemark
