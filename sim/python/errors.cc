#include "sim/python/errors.h"

#include <nanobind/nanobind.h>

#include <exception>
#include <utility>

namespace tidemark::python {

namespace nb = nanobind;

namespace {

/// (file, line, column, path, message, hint); the place is None where there is none.
nb::tuple fields_of(const Problem& problem) {
  const auto text = [](const std::string& from) { return nb::str(from.data(), from.size()); };
  nb::object file = nb::none();
  nb::object line = nb::none();
  nb::object column = nb::none();
  if (const SourceText* source = problem.at.source.get()) {
    file = text(source->name);
    if (problem.at.line > 0) {
      line = nb::int_(problem.at.line + source->first_line - 1);
      column = nb::int_(problem.at.column + source->indent);
    }
  }
  return nb::make_tuple(file, line, column, text(problem.path), text(problem.message),
                        text(problem.hint));
}

void raise_input_error(const InputError& error) {
  nb::list problems;
  for (const Problem& problem : error.problems()) problems.append(fields_of(problem));
  const nb::object type = nb::module_::import_("tidemark._errors").attr("InputError");
  const nb::object raised = type(nb::str(error.what()), problems);
  PyErr_SetObject(type.ptr(), raised.ptr());
}

}  // namespace

void register_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      raise_input_error(error);
    } catch (const IoError& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
}

void argument_error(std::string argument, std::string message, std::string hint) {
  Problem problem;
  problem.path = std::move(argument);
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  throw InputError(std::move(problem));
}

std::vector<std::string> warning_texts(const std::vector<Problem>& warnings) {
  std::vector<std::string> texts;
  texts.reserve(warnings.size());
  for (const Problem& warning : warnings) {
    std::string text = render_problem(warning);
    constexpr std::string_view kError = "error: ";
    if (const std::size_t at = text.find(kError); at != std::string::npos)
      text.erase(at, kError.size());
    while (text.ends_with('\n')) text.pop_back();
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace tidemark::python
