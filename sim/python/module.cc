#include <nanobind/nanobind.h>

#include "sim/python/bindings.h"
#include "sim/python/errors.h"

// The macro defines functions that its own declarations do not announce.
// NOLINTNEXTLINE(misc-unused-parameters)
NB_MODULE(_core, module) {
  module.attr("version") = TIDEMARK_VERSION;
  tidemark::python::register_errors();
  tidemark::python::bind_runs(module);
  tidemark::python::bind_recordings(module);
  tidemark::python::bind_studies(module);
  tidemark::python::bind_program(module);
}
