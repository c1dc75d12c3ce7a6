#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/cli/program.h"
#include "sim/python/bindings.h"

namespace tidemark::python {

namespace nb = nanobind;

namespace {

/// Text of a width, kept.
class Kept final : public cli::Output {
 public:
  explicit Kept(int width) : width_(width) {}
  void write(std::string_view text) override { text_ += text; }
  [[nodiscard]] int width() const override { return width_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  int width_;
};

/// (exit code, standard output, standard error) of a command line.
nb::tuple run_words(const std::vector<std::string>& words, int width) {
  Kept out(width);
  Kept err(width);
  cli::ExitCode code = cli::ExitCode::kDone;
  {
    const nb::gil_scoped_release unlocked;
    code = cli::run_program(words, out, err);
  }
  const auto text = [](const std::string& from) { return nb::str(from.data(), from.size()); };
  return nb::make_tuple(static_cast<int>(code), text(out.text()), text(err.text()));
}

/// The program in this process: its exit code.
int main_program(const std::vector<std::string>& words) {
  const nb::gil_scoped_release unlocked;
  cli::StreamOutput out(stdout, "standard output");
  cli::StreamOutput err(stderr, "standard error");
  return static_cast<int>(cli::run_program(words, out, err));
}

}  // namespace

void bind_program(nb::module_& module) {
  module.def("run_words", &run_words, nb::arg("words"), nb::arg("width"));
  module.def("main_program", &main_program, nb::arg("words"));
}

}  // namespace tidemark::python
