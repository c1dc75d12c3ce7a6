#include "sim/torch/emitter/kept_state.h"

#include <catch2/catch.hpp>

#include "sim/torch/emitter/emitter.h"
#include "tests/unit/torch/sink_log.h"

using namespace tidemark;
using namespace tidemark::test;
using torch::Emitter;

namespace {

/// A model called without gradients, operator by operator.
struct Generation {
  Program program;
  SinkLog sink;
  Emitter emitter{program, sink};
  std::uint32_t model = emitter.module_label("Model");
  std::uint32_t attention = emitter.module_label("layers.0.attention");
  std::uint32_t key = emitter.module_label("layers.0.attention.key");
  std::uint32_t head = emitter.module_label("head");

  ops::Tensor run(std::string_view op, std::uint32_t module,
                  const std::vector<const ops::Tensor*>& reads, std::int64_t elements = 64) {
    emitter.set_label(module, op);
    emitter.add_op(op, module, reads, nullptr);
    ops::Tensor out(make_ref<ops::TensorImpl>());
    out->sizes = {elements};
    out->strides = {1};
    out->device = ops::Device{0};
    const Bytes bytes = static_cast<Bytes>(elements) * 4;
    const ops::RequestNumber request = emitter.allocate(bytes, out->device, 0);
    out->storage = make_ref<ops::Storage>(&emitter, request, bytes, out->device);
    emitter.set_label(module, {});
    return out;
  }
  [[nodiscard]] Category category(const ops::Tensor& tensor) const {
    return program.categories[tensor->storage->request()];
  }
};

}  // namespace

TEST_CASE("What a module made in one call and reads in the next is the key-value cache") {
  Generation g;
  g.emitter.begin_call(g.model, false);
  const ops::Tensor keys = g.run("addmm", g.key, {});
  const ops::Tensor scores = g.run("bmm", g.attention, {&keys});
  const ops::Tensor logits = g.run("addmm", g.head, {&scores});
  g.emitter.end_call();
  CHECK(g.category(keys) == Category::kTemporary);
  g.emitter.begin_call(g.model, false);
  const ops::Tensor fresh = g.run("addmm", g.key, {&logits});
  const ops::Tensor joined = g.run("cat", g.attention, {&keys, &fresh});
  g.emitter.end_call();
  CHECK(g.category(keys) == Category::kKvCache);
  CHECK(g.category(joined) == Category::kKvCache);
  CHECK(g.category(fresh) == Category::kTemporary);
  CHECK(g.category(scores) == Category::kTemporary);
  CHECK(g.category(logits) == Category::kTemporary);
}

TEST_CASE("What is made of a module's results outside of it is the module's still") {
  Generation g;
  g.emitter.begin_call(g.model, false);
  const ops::Tensor keys = g.run("addmm", g.key, {});
  const ops::Tensor out = g.run("addmm", g.head, {&keys});
  g.emitter.end_call();
  const ops::Tensor chosen = g.run("index_select", 0, {&keys});  // of a beam
  const ops::Tensor sample = g.run("add", 0, {&out});            // of a denoising loop
  const ops::Tensor mask = g.run("ones", 0, {});
  g.emitter.begin_call(g.model, false);
  g.run("bmm", g.attention, {&chosen, &mask});
  g.run("addmm", g.key, {&sample});
  g.emitter.end_call();
  CHECK(g.category(chosen) == Category::kKvCache);
  CHECK(g.category(sample) == Category::kTemporary);
  CHECK(g.category(mask) == Category::kTemporary);
}

TEST_CASE("A buffer that a module writes into in part is a cache, one written whole is not") {
  Generation g;
  const ops::Tensor buffer = g.run("zeros", 0, {});
  const ops::Tensor statistics = g.run("zeros", 0, {});
  g.emitter.set_role(buffer->storage->request(), ops::Role::kParameter);
  g.emitter.begin_call(g.model, false);
  ops::Tensor part(make_ref<ops::TensorImpl>());
  part->sizes = {8};
  part->strides = {1};
  part->device = ops::Device{0};
  part->storage = buffer->storage;
  g.emitter.set_label(g.attention, "copy_");
  g.emitter.add_op("copy_", g.attention, {&part}, nullptr);
  g.emitter.writes(part);
  g.emitter.add_op("copy_", g.attention, {&statistics}, nullptr);
  g.emitter.writes(statistics);
  g.emitter.end_call();
  CHECK(g.category(buffer) == Category::kKvCache);
  CHECK(g.category(statistics) == Category::kTemporary);
}

TEST_CASE("A model that is called again begins a step where nothing trains") {
  Generation g;
  g.emitter.name_phases();
  for (int i = 0; i < 3; ++i) {
    g.emitter.begin_call(g.model, false);
    g.emitter.end_call();
  }
  CHECK(g.emitter.amounts().steps == 2);
  g.emitter.begin_call(g.head, false);  // another model belongs to the same step
  g.emitter.end_call();
  CHECK(g.emitter.amounts().steps == 2);
  g.emitter.set_trains();
  g.emitter.begin_call(g.model, false);
  g.emitter.end_call();
  CHECK(g.emitter.amounts().steps == 2);
}

TEST_CASE("Nothing is kept over a call for gradients") {
  Generation g;
  g.emitter.begin_call(g.model, false);
  const ops::Tensor keys = g.run("addmm", g.key, {});
  g.emitter.end_call();
  g.emitter.begin_call(g.model, true);
  g.emitter.end_call();
  g.emitter.begin_call(g.model, false);
  g.run("bmm", g.attention, {&keys});
  g.emitter.end_call();
  CHECK(g.category(keys) == Category::kTemporary);
}
