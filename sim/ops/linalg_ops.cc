#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sim/ops/composite_ops.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// Matrices that lie column by column, as LAPACK has them.
Tensor by_columns(Context& c, const Dims& sizes, const Tensor& like) {
  Dims strides = contiguous_strides(sizes);
  strides[strides.size() - 1] = sizes[sizes.size() - 2];
  strides[strides.size() - 2] = 1;
  return c.empty_strided(sizes, strides, like.dtype(), like.device());
}

std::int64_t matrices_in(const Tensor& matrix) {
  const std::int64_t n = matrix.size(-1);
  return matrix.numel() / std::max<std::int64_t>(n * n, 1);
}
Dims batch_dims(const Tensor& matrix) {
  Dims dims = matrix.sizes();
  dims.pop_back();
  dims.pop_back();
  return dims;
}

/// cuBLAS solves or factors a batch at once: it takes lists of where each matrix lies.
void run_batched(Context& c, const Tensor& matrix, std::size_t lists) {
  if (!matrix.is_cuda()) return;
  const auto list = [&] {
    return c.empty({matrices_in(matrix)}, ScalarType::kInt64, matrix.device());
  };
  const Tensor first = list();
  const Tensor second = lists > 1 ? list() : Tensor();
  c.cublas_workspace(matrix.device());
}

/// A few large systems are solved one after another, others at once. Source:
/// triangular_solve_kernel.
void run_triangle(Context& c, const Tensor& matrix) {
  const std::int64_t n = matrix.size(-1);
  const bool in_turn = matrices_in(matrix) <= 8 && n >= 64;
  constexpr std::int64_t kLargest = 512;  // beyond, other libraries take over
  if (!in_turn && n > kLargest) {
    throw NotModelled(
        "solve_triangular of many systems of more than 512 unknowns is not modelled; solve fewer "
        "at a time");
  }
  if (in_turn) {
    c.cublas_workspace(matrix.device());
  } else {
    run_batched(c, matrix, 2);
  }
}

Tensor solve_kernel(Context& c, const Tensor& matrix, const Tensor& right) {
  Tensor out = by_columns(c, right.sizes(), right);
  if (right.is_cuda() && right.numel() > 0) run_triangle(c, matrix);
  return out;
}

}  // namespace

/// Source: torch's linalg_solve_triangular_backward.
Tensor solve_triangular(Context& c, const Tensor& matrix, const Tensor& right) {
  const std::int64_t rank = matrix.dim();
  if (rank < 2 || matrix.size(-1) != matrix.size(-2)) {
    throw OpError(
        "linalg.solve_triangular: A must be batches of square matrices, but they are not");
  }
  if (right.dim() != rank || !(batch_dims(matrix) == batch_dims(right))) {
    throw NotModelled(
        "solve_triangular of batches that are broadcast is not modelled; expand and copy them "
        "first");
  }
  if (right.size(-2) != matrix.size(-1)) {
    throw OpError(fmt::format(
        "linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B ({} and "
        "{})",
        to_string(matrix.sizes()), to_string(right.sizes())));
  }
  if (!matrix.is_contiguous() && !transpose(matrix, -1, -2).is_contiguous()) {
    throw NotModelled(
        "solve_triangular of a matrix that is not contiguous is not modelled; call .contiguous() "
        "first");
  }
  Op op(c, "linalg_solve_triangular", "LinalgSolveTriangularBackward0", {&matrix, &right});
  op.save(0, matrix);
  Tensor out = solve_kernel(c, matrix, right);
  op.save(1, out);  // its formula is that of both sides
  return op.result(std::move(out), [](Backward& b) {
    const Tensor of_right = solve_kernel(b.c, transpose(b.saved[0], -1, -2), b.grad());
    if (b.needs(0)) {
      const GradMode off(b.c, false);
      const Tensor negative = [&] {
        const Tensor product = matmul(b.c, of_right, transpose(b.saved[1], -1, -2));
        return pointwise(b.c, {&product});
      }();
      b.grads[0] = b.c.empty(negative.sizes(), negative.dtype(), negative.device());
    }
    if (b.needs(1)) b.grads[1] = of_right;
  });
}

namespace {

void check_square(std::string_view name, const Tensor& matrix) {
  if (matrix.dim() < 2 || matrix.size(-1) != matrix.size(-2)) {
    throw OpError(
        fmt::format("linalg.{}: A must be batches of square matrices, but they are not", name));
  }
  if (matrix.dtype() != ScalarType::kFloat32 && matrix.dtype() != ScalarType::kFloat64) {
    throw OpError(fmt::format("linalg.{}: Low precision dtypes not supported. Got {}", name,
                              info(matrix.dtype()).name));
  }
}

struct Factors {
  Tensor lu;
  Tensor pivots;
  /// A tuple drops its first element first.
  void drop_in_order() {
    lu.reset();
    pivots.reset();
  }
};

Factors factors_of(Context& c, const Tensor& matrix) {
  Dims rows = matrix.sizes();
  rows.pop_back();
  Tensor lu = by_columns(c, matrix.sizes(), matrix);
  return {std::move(lu), c.empty(rows, ScalarType::kInt32, matrix.device())};
}
Tensor info_of(Context& c, const Tensor& matrix) {
  return c.empty(batch_dims(matrix), ScalarType::kInt32, matrix.device());
}
/// One matrix is factored by cuSOLVER, whose workspace is taken to be empty, as cuDNN's are; many
/// are factored at once. Source: lu_factor.
void factor(Context& c, const Tensor& matrix) {
  constexpr std::int64_t kLargest = 512;  // beyond, each in its turn
  if (matrices_in(matrix) > 1 && matrix.size(-1) < kLargest) run_batched(c, matrix, 1);
}
/// How systems are solved whose matrices are factored.
enum class Way : std::uint8_t { kAtOnce, kInTurn, kByTriangles };
/// Source: lu_solve_kernel.
Way way_of(std::int64_t batch, std::int64_t n, std::int64_t columns, bool transposed) {
  constexpr std::int64_t kSmall = 8;
  constexpr std::int64_t kMiddle = 64;
  if (n == columns) return n <= 16 ? Way::kAtOnce : Way::kByTriangles;
  if (n <= kSmall) return Way::kAtOnce;
  if (n > 2 * kMiddle) return Way::kByTriangles;
  const std::int64_t few = n <= kMiddle ? kSmall : 2;
  const bool in_turn = n > kMiddle ? columns <= 2 : columns <= kMiddle || transposed || n <= 32;
  if (batch <= 2 && in_turn) return Way::kInTurn;
  return columns <= few ? Way::kAtOnce : Way::kByTriangles;
}
/// The rows' order and its inverse, then one system for each triangle. Source: lu_solve_kernel,
/// unpack_pivots (oracle).
void run_by_triangles(Context& c, const Tensor& matrix, std::int64_t columns) {
  const std::int64_t n = matrix.size(-1);
  const auto numbers = [&](const Dims& sizes) {
    return c.empty(sizes, ScalarType::kInt64, matrix.device());
  };
  Dims rows = batch_dims(matrix);
  rows.push_back(n);
  Tensor order = numbers({n});
  if (rows.size() > 1) order = numbers(rows);
  const Tensor places = numbers({n});
  const Tensor inverse = numbers(rows);
  Dims sizes = rows;
  sizes.push_back(columns);
  const Tensor moved = c.empty(sizes, matrix.dtype(), matrix.device());
  for (int triangle = 0; triangle < 2; ++triangle) run_triangle(c, matrix);
}
void run_with_factors(Context& c, const Tensor& matrix, std::int64_t columns, bool transposed) {
  if (!matrix.is_cuda()) return;
  switch (way_of(matrices_in(matrix), matrix.size(-1), columns, transposed)) {
    case Way::kAtOnce:
      return run_batched(c, matrix, 2);
    case Way::kInTurn:
      c.empty({1}, ScalarType::kInt32, matrix.device());
      return;
    case Way::kByTriangles:
      return run_by_triangles(c, matrix, columns);
  }
}
Tensor solve_with_factors(Context& c, const Tensor& matrix, const Tensor& right) {
  Tensor out = by_columns(c, right.sizes(), right);
  run_with_factors(c, matrix, right.size(-1), !matrix.is_contiguous());
  return out;
}
/// The host looks whether every matrix could be factored.
void check_errors(Context& c, const Tensor& infos) {
  if (infos.dim() == 0) {
    // any() of one number makes a truth of it first, and copies that.
    const Tensor any = c.empty({}, ScalarType::kBool, infos.device());
    c.empty({}, ScalarType::kBool, infos.device());
    c.read_value(any);
    return;
  }
  c.read_value(c.empty({}, ScalarType::kBool, infos.device()));
}

}  // namespace

Tensor inverse(Context& c, const Tensor& matrix) {
  check_square("inv", matrix);
  Op op(c, "linalg_inv_ex", "LinalgInvExBackward0", {&matrix});
  Tensor out = by_columns(c, matrix.sizes(), matrix);
  const Tensor infos = info_of(c, matrix);
  {
    const Factors factors = factors_of(c, matrix);
    factor(c, matrix);
    run_with_factors(c, matrix, matrix.size(-1), matrix.is_contiguous());
  }
  check_errors(c, infos);
  op.save(0, out);
  return op.result(std::move(out), [](Backward& b) {
    const GradMode off(b.c, false);
    const Tensor turned = transpose(b.saved[0], -1, -2);
    const Tensor inner = matmul(b.c, b.grad(), turned);
    const Tensor outer = matmul(b.c, turned, inner);
    b.grads[0] = pointwise(b.c, {&outer});
  });
}

namespace {

/// A right side without a last dimension: one column for each matrix. Source:
/// linalg_solve_is_vector_rhs.
bool is_of_columns(const Tensor& matrix, const Tensor& right) {
  Dims rows = matrix.sizes();
  rows.pop_back();
  return right.dim() == 1 || right.sizes() == rows;
}

/// What the backward function of a solution needs of its call.
struct Side {
  bool is_right;   ///< X A = B, which is solved as A' X' = B'
  bool is_vector;  ///< the right side has no last dimension

  [[nodiscard]] Tensor turned(const Tensor& x) const { return is_right ? transpose(x, -1, -2) : x; }
  [[nodiscard]] Tensor column(Context& c, const Tensor& x) const {
    return is_vector ? unsqueeze(c, x, -1) : x;
  }
};

/// Source: torch's linalg_solve_backward.
void solve_backward(Backward& b, Side side) {
  const GradMode off(b.c, false);
  const Tensor grad = side.turned(side.column(b.c, b.grad()));
  const Tensor of_right = side.turned(solve_with_factors(b.c, b.saved[0], grad));
  if (b.needs(0)) {
    const Tensor turned = transpose(side.column(b.c, b.saved[3]), -1, -2);
    const Tensor product =
        side.is_right ? matmul(b.c, turned, of_right) : matmul(b.c, of_right, turned);
    b.grads[0] = pointwise(b.c, {&product});
  }
  if (b.needs(1)) b.grads[1] = side.is_vector ? squeeze(b.c, of_right, -1) : of_right;
}

/// Where the solution lies: as the right side, with the batch of the matrices.
Tensor solution_of(Context& c, const Tensor& matrix, const Tensor& right, Side side) {
  if (side.is_vector) return c.empty(right.sizes(), right.dtype(), right.device());
  Dims sizes = batch_dims(matrix);
  sizes.push_back(right.size(-2));
  sizes.push_back(right.size(-1));
  return side.is_right ? c.empty(sizes, right.dtype(), right.device())
                       : by_columns(c, sizes, right);
}

}  // namespace

/// Right sides of the batch that the matrices have; without gradients, of a smaller one too.
/// Source: _linalg_solve_ex, linalg_lu_solve.
Tensor solve(Context& c, const Tensor& matrix, const Tensor& right, bool from_right) {
  check_square("solve", matrix);
  Op op(c, "_linalg_solve_ex", "LinalgSolveExBackward0", {&matrix, &right});
  const Side side{from_right, is_of_columns(matrix, right)};
  Dims sizes = right.sizes();
  if (side.is_vector) sizes.push_back(1);
  const std::int64_t columns = sizes[sizes.size() - (from_right ? 2 : 1)];
  const bool is_wide = right.dim() < matrix.dim() && !side.is_vector && !op.needs(1);
  const Dims batch(std::span<const std::int64_t>(sizes.begin(), sizes.end() - 2));
  if ((!is_wide && !(batch_dims(matrix) == batch)) ||
      sizes[sizes.size() - (from_right ? 1 : 2)] != matrix.size(-1)) {
    throw NotModelled(
        "torch.linalg.solve of a batch that is broadcast is not modelled; expand and copy it "
        "first");
  }
  op.save(0, matrix);
  Tensor out = solution_of(c, matrix, right, side);
  Tensor infos;
  {
    Factors factors = factors_of(c, matrix);
    infos = info_of(c, matrix);
    factor(c, matrix);
    {
      // A column's strides are not those of a solution: it is solved beside, and copied.
      const Tensor beside = side.is_vector ? by_columns(c, sizes, right) : Tensor();
      run_with_factors(c, matrix, columns, matrix.is_contiguous() != from_right);
    }
    op.save(1, factors.lu);
    op.save(2, factors.pivots);
    factors.drop_in_order();
  }
  check_errors(c, infos);
  op.save(3, out);
  return op.result(std::move(out), [side](Backward& b) { solve_backward(b, side); });
}

namespace {

/// 1 or -1 for each permutation. Source: lu_det_P.
Tensor sign_of(Context& c, const Tensor& pivots) {
  const Tensor places = c.empty({pivots.size(-1)}, ScalarType::kInt32, pivots.device());
  const Tensor moved = pointwise(c, {&pivots, &places}, ScalarType::kBool);
  return sum_kernel(c, moved, {-1}, false);
}

/// Source: torch's linalg_det_backward.
void det_backward(Backward& b) {
  Context& c = b.c;
  const Tensor& matrix = b.saved[0];
  const Tensor scaled = pointwise(c, {&b.grad(), &b.saved[3]});
  const Tensor wide = zeros_like(c, matrix);
  const Tensor regular = [&] {
    // What is zero on the diagonal of U is moved a little.
    const Tensor diagonal = diagonal_view(b.saved[1], 0, -2, -1);
    const Tensor is_zero = pointwise(c, {&diagonal}, ScalarType::kBool);
    const Tensor moves = [&] {
      const Tensor none = c.empty({}, ScalarType::kFloat32, matrix.device());
      const Tensor little = c.empty({}, ScalarType::kFloat32, matrix.device());
      return pointwise(c, {&is_zero, &none, &little}, ScalarType::kFloat32);
    }();
    const Tensor added = zeros(c, matrix.sizes(), ScalarType::kFloat32, matrix.device());
    return pointwise(c, {&b.saved[1], &added});
  }();
  b.grads[0] = solve_with_factors(c, matrix, wide);
}

}  // namespace

Tensor det(Context& c, const Tensor& matrix) {
  check_square("det", matrix);
  Op op(c, "_linalg_det", "LinalgDetBackward0", {&matrix});
  op.save(0, matrix);
  Tensor out = c.empty(batch_dims(matrix), matrix.dtype(), matrix.device());
  Factors factors = factors_of(c, matrix);
  {
    const Tensor infos = info_of(c, matrix);
    factor(c, matrix);
    const Tensor product =
        reduce(c, diagonal_view(factors.lu, 0, -2, -1), {-1}, false, matrix.dtype());
    sign_of(c, factors.pivots);
  }
  op.save(1, factors.lu);
  op.save(2, factors.pivots);
  factors.drop_in_order();
  op.save(3, out);
  return op.result(std::move(out), det_backward);
}

namespace {

TensorList slogdet(Context& c, const Tensor& matrix) {
  check_square("slogdet", matrix);
  Op op(c, "_linalg_slogdet", "LinalgSlogdetBackward0", {&matrix});
  op.save(0, matrix);
  const Dims batch = batch_dims(matrix);
  TensorList out{c.empty(batch, matrix.dtype(), matrix.device()),
                 c.empty(batch, matrix.dtype(), matrix.device())};
  Factors factors = factors_of(c, matrix);
  {
    const Tensor infos = info_of(c, matrix);
    factor(c, matrix);
    const Tensor diagonal = diagonal_view(factors.lu, 0, -2, -1);
    {
      const Tensor permutation = sign_of(c, factors.pivots);
      const Tensor signs = pointwise(c, {&diagonal});
      reduce(c, signs, {-1}, false, matrix.dtype());
    }
    pointwise(c, {&diagonal});
  }
  op.save(1, factors.lu);
  op.save(2, factors.pivots);
  factors.drop_in_order();
  op.save(3, out[0]);
  op.results_of(out, [](Backward& b) {
    if (!b.grad(1).defined()) return;  // the sign of real matrices has no gradient
    const Tensor wide = zeros_like(b.c, b.saved[0]);
    b.grads[0] = solve_with_factors(b.c, b.saved[0], wide);
  });
  return out;
}

/// Source: torch's cholesky_backward.
void cholesky_backward(Backward& b, bool upper) {
  Context& c = b.c;
  const GradMode off(c, false);
  const Tensor factor = upper ? transpose(b.saved[0], -1, -2) : b.saved[0];
  const Tensor grad = upper ? transpose(b.grad(), -1, -2) : b.grad();
  const auto triangle = [&c](const Tensor& x) { return c.empty(x.sizes(), x.dtype(), x.device()); };
  Tensor inner = triangle(matmul(c, transpose(factor, -1, -2), grad));
  {
    const Tensor below = triangle(inner);
    const Tensor turned = transpose(below, -1, -2);
    const Tensor both = pointwise(c, {&inner, &turned});
    inner = pointwise(c, {&both});
  }
  inner = solve_kernel(c, factor, inner);
  b.grads[0] = solve_kernel(c, factor, inner);
}

/// The factor and the matrices' codes of failure. Source: torch's linalg_cholesky_ex.
TensorList cholesky(Context& c, const Tensor& matrix, bool upper, bool is_checked) {
  if (matrix.dim() < 2 || matrix.size(-1) != matrix.size(-2))
    throw OpError("linalg.cholesky: A must be batches of square matrices, but they are not");
  Op op(c, "linalg_cholesky_ex", "LinalgCholeskyExBackward0", {&matrix});
  TensorList out{by_columns(c, matrix.sizes(), matrix), info_of(c, matrix)};
  if (matrix.is_cuda() && matrices_in(matrix) > 1) {
    // cuSOLVER's list of where each matrix lies.
    c.empty({matrices_in(matrix)}, ScalarType::kInt64, matrix.device());
  }
  if (is_checked) check_errors(c, out[1]);
  op.save(0, out[0]);
  op.results({&out[0]}, [upper](Backward& b) { cholesky_backward(b, upper); });
  return out;
}

}  // namespace

Tensor checked_infos(Context& c, const Tensor& infos) {
  check_errors(c, infos);
  return infos;
}

OpResult slogdet_of(Arguments& a) {
  return OpResult::named("linalg_slogdet", "sign logabsdet", slogdet(a.context(), a.tensor(0)));
}

OpResult cholesky_of(Arguments& a) {
  TensorList out = cholesky(a.context(), a.tensor(0), a.flag(1), true);
  return std::move(out[0]);
}

OpResult cholesky_ex_of(Arguments& a) {
  return OpResult::named("linalg_cholesky_ex", "L info",
                         cholesky(a.context(), a.tensor(0), a.flag(1), a.flag(2)));
}

}  // namespace tidemark::ops
