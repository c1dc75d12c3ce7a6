#include "sim/cli/catalogue.h"
#include "sim/study/catalogue/catalogue.h"

namespace tidemark::cli {

std::unique_ptr<Command> make_ops_command() {
  return catalogue_command(
      {"ops",
       "the operators that are modelled, with their options",
       "Where: torch is torch.NAME, F torch.nn.functional.NAME, method x.NAME. Types: operand "
       "is a tensor or a number, ? allows None. An option that is not here is refused. What "
       "PyTorch has in Python (modules, optimizers, composed functions) runs as such and is "
       "not in the table; docs/language.md tells more. The whole name of an operator that has a "
       "record prints it too: what it makes, what autograd keeps, its gradients.",
       "only those with this in their name",
       {{"tidemark ops tanh", "the operator tanh, and its record"},
        {"tidemark ops softmax", "the operators with softmax in their name"},
        {"tidemark ops --format csv", "all, with the source of each rule"}},
       &op_table,
       &op_record_text});
}

}  // namespace tidemark::cli
