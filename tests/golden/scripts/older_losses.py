"""Losses as older programs call them: by two flags in place of a name."""
import torch
import torch.nn as nn
import torch.nn.functional as F

for flags in (dict(size_average=False), dict(reduce=False), dict(size_average=True, reduce=True), dict(size_average=False, reduce=False),
              dict(size_average=True), dict(reduce=True)):
    x = torch.randn(6, 10, device="cuda", requires_grad=True)
    y, classes, signs = torch.rand(6, 10, device="cuda"), torch.randint(0, 10, (6,), device="cuda"), torch.ones(6, device="cuda")
    for loss in (F.l1_loss(x, y, **flags), F.mse_loss(x, y, **flags), F.smooth_l1_loss(x, y, **flags),
                 F.cross_entropy(x, classes, **flags), F.kl_div(x.log_softmax(1), y, **flags),
                 F.nll_loss(x.log_softmax(1), classes, **flags), F.binary_cross_entropy_with_logits(x, y, **flags),
                 F.binary_cross_entropy(x.sigmoid(), y, **flags),
                 F.multi_margin_loss(x, classes, **flags), F.soft_margin_loss(x, y, **flags), F.poisson_nll_loss(x, y, **flags),
                 F.hinge_embedding_loss(x, y, **flags),
                 F.margin_ranking_loss(x[:, 0], x[:, 1], signs, **flags),
                 F.triplet_margin_loss(x, y, y * 2, **flags), F.cosine_embedding_loss(x, y, signs, **flags),
                 F.multilabel_soft_margin_loss(x, y, **flags),
                 F.multilabel_margin_loss(x, torch.zeros(6, 10, dtype=torch.long, device="cuda"), **flags)):
        loss.sum().backward()
    for make in (nn.CrossEntropyLoss, nn.NLLLoss, nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.BCEWithLogitsLoss, nn.KLDivLoss, nn.SoftMarginLoss,
                 nn.MultiMarginLoss, nn.PoissonNLLLoss, nn.MultiLabelSoftMarginLoss,
                 nn.HingeEmbeddingLoss, nn.TripletMarginLoss, nn.CosineEmbeddingLoss, nn.MarginRankingLoss, nn.BCELoss, nn.MultiLabelMarginLoss):
        print(make.__name__, make(**flags).reduction)
    loss = nn.CrossEntropyLoss(None, *([flags["size_average"]] if "size_average" in flags else []))(x, classes)
    loss.sum().backward()
