#include "sim/cli/program.h"

int main(int argc, char** argv) {
  using namespace tidemark::cli;
  StreamOutput out(stdout, "standard output");
  StreamOutput err(stderr, "standard error");
  const ExitCode code = run_program(std::vector<std::string>(argv + 1, argv + argc), out, err);
  return static_cast<int>(code);
}
