#include "sim/lang/edit/user_code.h"

#include <catch2/catch.hpp>

using namespace tidemark;
using namespace tidemark::lang;

namespace {

std::shared_ptr<const SourceText> source(std::string text) {
  return std::make_shared<const SourceText>(SourceText{"user.py", std::move(text)});
}

/// The first call of what a dotted name stands for; nullptr: there is none.
const CallExpr* call_of(const UserCode& code, std::string_view path) {
  for (const Expr* node : code.expressions()) {
    if (node->kind != ExprKind::kCall) continue;
    const auto* call = static_cast<const CallExpr*>(node);
    if (code.path(*call->callee) == path) return call;
  }
  return nullptr;
}

/// The text with `fused=True` given to its first torch.optim.Adam.
std::string with_fused(const std::string& text) {
  const UserCode code(source(text));
  const CallExpr* call = call_of(code, "torch.optim.Adam");
  return call == nullptr ? "no call" : edited(text, with_argument(code, *call, "fused=True"));
}

}  // namespace

TEST_CASE("Strings and comments are no code") {
  const UserCode code(
      source("# torch.optim.Adam(x)\ns = 'autocast torch.optim.Adam(x)'\n"
             "'''with autocast(): pass'''\nbackward_steps = 3\n"));
  CHECK(call_of(code, "torch.optim.Adam") == nullptr);
  CHECK_FALSE(code.mentions("autocast"));
  CHECK_FALSE(code.mentions("backward"));
  CHECK(code.mentions("backward_steps"));
}

TEST_CASE("A dotted name is followed through the text's imports") {
  for (const std::string head :
       {"import torch\nopt = torch.optim.Adam(p)", "import torch.optim as o\nopt = o.Adam(p)",
        "from torch import optim\nopt = optim.Adam(p)",
        "from torch.optim import Adam\nopt = Adam(p)", "import torch as t\nopt = t.optim.Adam(p)",
        "from torch.optim import Adam as A\nopt = A (p)"}) {
    INFO(head);
    CHECK(call_of(UserCode(source(head + "\n")), "torch.optim.Adam") != nullptr);
  }
  CHECK(call_of(UserCode(source("from mine import Adam\nopt = Adam(p)\n")), "torch.optim.Adam") ==
        nullptr);
  const UserCode loop(source("opt = nn.Linear(1, 2)\n"));
  const auto* call = static_cast<const CallExpr*>(loop.expressions()[1]);
  CHECK(loop.path(*call->callee, {{"nn", "torch.nn"}}) == "torch.nn.Linear");
}

TEST_CASE("An argument is added behind those that a call has, however they are written") {
  CHECK(with_fused("o = torch.optim.Adam(p, lr=1)\n") ==
        "o = torch.optim.Adam(p, lr=1, fused=True)\n");
  CHECK(with_fused("o = torch . optim.Adam ( p , )\n") ==
        "o = torch . optim.Adam ( p, fused=True , )\n");
  CHECK(with_fused("o = torch.optim.Adam()\n") == "o = torch.optim.Adam(fused=True)\n");
  CHECK(with_fused("o = torch.optim.Adam(p, lr=(1 + 2))  # )\n") ==
        "o = torch.optim.Adam(p, lr=(1 + 2), fused=True)  # )\n");
  CHECK(with_fused("o = torch.optim.Adam(p, lr=f(')'))\n") ==
        "o = torch.optim.Adam(p, lr=f(')'), fused=True)\n");
  CHECK(with_fused("o = torch.optim.Adam(\n    p,  # (all)\n    lr=1,\n)\n") ==
        "o = torch.optim.Adam(\n    p,  # (all)\n    lr=1, fused=True,\n)\n");
  CHECK(with_fused("o = torch.optim.Adam(q for q in m.parameters())\n") ==
        "o = torch.optim.Adam((q for q in m.parameters()), fused=True)\n");
}

TEST_CASE("An expression's bytes are whole where brackets begin or end an operand") {
  const auto value = [](const std::string& text) {
    const UserCode code(source(text));
    const auto* assigned = static_cast<const AssignStmt*>(code.body()[0]);
    return std::string(code.text(*assigned->value));
  };
  CHECK(value("x = (a + b) * c\n") == "(a + b) * c");
  CHECK(value("x = a * (b + f(']'))\n") == "a * (b + f(']'))");
  CHECK(value("x = (a + b)\n") == "a + b");
  CHECK(value("x = ((a) + b).sum()\n") == "((a) + b).sum()");
  CHECK(value("x = [1, (2)]\n") == "[1, (2)]");
}

TEST_CASE("Edits leave every other byte alone") {
  CHECK(edited("abcdef", {{{4, 5}, "E"}, {{1, 1}, "+"}, {{0, 1}, "A"}}) == "A+bcdEf");
  CHECK(edited("a\tb \r\n", {}) == "a\tb \r\n");
}

TEST_CASE("A text with syntax errors has no nodes") {
  const UserCode code(source("x = = 1\ntorch.optim.Adam(p)\n"));
  CHECK(code.has_syntax_errors());
  CHECK(code.expressions().empty());
  CHECK(code.body().empty());
}

TEST_CASE("Nodes come in the order of the text, what lies around others first") {
  const UserCode code(source("def f():\n    g(h(1))\nk()\n"));
  std::vector<std::string> calls;
  for (const Expr* node : code.expressions()) {
    if (node->kind == ExprKind::kCall) calls.emplace_back(code.text(*node));
  }
  CHECK(calls == std::vector<std::string>{"g(h(1))", "h(1)", "k()"});
}
