"""What programs take of numpy beyond sums and shapes."""
import numpy as np

a = np.arange(12).reshape(3, 4)
f = np.array([[1.0, 2.0], [3.0, 4.0]])


def show(name, *values):
    print(name, *[(type(v).__name__, v.shape, str(v.dtype), v.tolist()) if isinstance(v, np.ndarray) else v for v in values])


show("einsum", np.einsum("m,d->md", np.arange(3.0), np.ones(2)).shape, np.einsum("ij,jk->ik", f, f).shape)
show("tensordot", np.tensordot(f, f, axes=1).shape, np.tensordot(a, a, axes=([0], [0])).shape, np.inner(f, f).shape)
show("products", np.kron(f, f).shape, np.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).shape, np.trace(f).shape)
show("diagonals", np.diag([1, 2, 3]), np.diag(a), np.diagonal(a, 1), np.tri(3, k=1), np.diagflat([1, 2]).shape)
show("triangles", *np.tril_indices(3), *np.triu_indices(3, 1), np.triu(a), np.tril(a, -1))
show("turned", np.flipud(a), np.fliplr(a), np.rot90(a))
b = np.zeros((3, 3))
np.fill_diagonal(b, 5)
show("filled", b)
show("grids", np.mgrid[0:2, 0:3], np.ogrid[0:2, 0:3][1], np.mgrid[0:1:5j], np.mgrid[0:4])
show("rows", np.r_[1, 2, 5:8], np.c_[[1, 2], [3, 4]], a[np.ix_([0, 2], [1, 3])], a[np.s_[1:, ::2]])
show("indices", np.indices((2, 2)), list(np.ndindex(2, 2)), list(np.ndenumerate(np.array([7, 8]))))
show("unravel", np.unravel_index(7, (3, 4)), *np.unravel_index(np.array([1, 11]), (3, 4)), np.ravel_multi_index((1, 3), (3, 4)))
show("sets", np.union1d([3, 1], [2, 1]), np.intersect1d([3, 1, 2], [2, 3]), np.setdiff1d([5, 3, 1], [3]))
show("cut", np.delete(a, 1, axis=0), np.delete(np.arange(5), [0, 2]), np.insert(np.arange(3), 1, 9), np.insert(a, 1, 0, axis=1))
show("bins", np.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0, 10.0]), *np.histogram([1, 2, 1, 4, 5.5], bins=4))
show("chosen", np.take(a, [0, 5]), np.take(a, [1, 2], axis=1), np.choose([0, 1, 0], [[1, 2, 3], [4, 5, 6]]), np.compress([True, False, True], a, axis=0))
show("places", np.argwhere(a > 9), np.flatnonzero(np.array([0, 3, 0, 4])), np.select([a < 3, a > 8], [a, a * 10], -1))
show("sums", np.cumprod([1, 2, 3]), np.ptp(a), np.ptp(a, axis=0), np.resize([1, 2, 3], (2, 2)), np.rollaxis(np.zeros((2, 3, 4)), 2).shape)
show("nan", np.nan_to_num(np.array([1.0, np.nan, np.inf]), posinf=9.0), np.nanmean([1.0, np.nan, 3.0]), np.nanmax([1.0, np.nan]), np.nansum([1, 2]))
show("types", np.result_type(np.float32, np.int64), np.can_cast(np.int32, np.int64), np.can_cast(np.float64, np.float32), np.iinfo(np.int32).max, np.finfo(np.float32).eps)
show("made", np.geomspace(1, 8, 4), np.fromiter((i * i for i in range(4)), dtype=np.int64), np.vectorize(lambda x: x * 2 + 1)([1, 2, 3]))
show("windows", np.hanning(5).shape, np.convolve([1, 2, 3], [0, 1, 0.5]).shape, np.convolve(np.arange(5), np.ones(3), "same").shape, np.polyval([1, 0, 2], 3))
show("angles", float(np.deg2rad(180)), float(np.degrees(np.pi)), np.left_shift(1, 4), np.reciprocal(4.0), *np.divmod(7, 3))
show("stats", np.cov(np.zeros((3, 5))).shape, np.corrcoef(np.ones((2, 5)) * [[1], [2]] + np.arange(5) * [[1], [3]]).shape, np.trapezoid([1.0, 2.0, 3.0]))
u, s, v = np.linalg.svd(a.astype(float), full_matrices=False)
show("linalg", u.shape, s.shape, v.shape, np.linalg.qr(f)[1].shape, np.linalg.solve(f, [1.0, 2.0]).shape, np.linalg.pinv(a.astype(float)).shape)
show("linalg2", np.linalg.eigh(f).eigenvectors.shape, np.linalg.cholesky(f @ f.T).shape, np.linalg.matrix_power(f, 3).shape, np.linalg.lstsq(a.astype(float), np.ones(3), rcond=None)[0].shape)
c = np.zeros(3)
np.copyto(c, [1, 2, 3], where=[True, False, True])
show("copied", c, np.apply_along_axis(lambda row: row[:2], 1, a), np.atleast_2d([1, 2]), *np.hsplit(a, 2), *np.vsplit(np.zeros((2, 1)), 2))
try:
    np.linalg.cholesky(np.zeros((2, 3)))
except np.linalg.LinAlgError as error:
    print("refused", type(error).__name__)
