import torch

L = torch.linalg
square, tall, wide = torch.randn(48, 48, device="cuda"), torch.randn(60, 40, device="cuda"), torch.randn(24, 50, device="cuda")
many, large, small = torch.randn(3, 20, 20, device="cuda"), torch.randn(96, 96, device="cuda"), torch.randn(10, 10, device="cuda")
with torch.no_grad():
    values, vectors = L.eigh(square)
    values, vectors = L.eigh(many)
    L.eigvalsh(square)
    left, singular, right = L.svd(tall, full_matrices=False)
    L.svdvals(tall)
    q, r = L.qr(tall)
    q, r = L.qr(wide)
    nuclear = L.matrix_norm(tall, "nuc")
    spectral = L.matrix_norm(tall, 2)
    X = L.solve_triangular(square, torch.randn(7, 48, device="cuda"), upper=True, left=False)
    weight = torch.nn.init.orthogonal_(torch.empty(50, 30, device="cuda"))
    weight = torch.nn.init.orthogonal_(torch.empty(30, 50, device="cuda"), gain=2.0)
for matrix in (square, many, large, small):
    matrix = matrix.clone().requires_grad_()
    L.cholesky(matrix).sum().backward()
    L.inv(matrix).sum().backward()
    L.slogdet(matrix)[1].sum().backward()
# Shampoo's step, as its authors write it.
gradient = torch.randn(48, 20, device="cuda")
precondition = torch.eye(48, device="cuda") * 1e-4
for step in range(2):
    precondition.add_(gradient @ gradient.T)
    values, vectors = L.eigh(precondition)
    root = vectors @ torch.diag(values.clamp_min(1e-6).pow(-0.25)) @ vectors.T
    update = root @ gradient
