"""A training step of GPT-2, DistilBERT, BERT and ResNet-50 under autocast, as torch-preflight measured them on a Tesla T4
(highwaterlabs/torch-preflight, tests/calibration): the peaks of a second step, in bytes. Models have their default
configurations. Needs transformers 5.12 and torchvision: tidemark run t4.py --device t4 --packages FOLDER"""
import torch
import torch.nn.functional as F


def made(name):
    if name == "resnet50":
        import torchvision

        return torchvision.models.resnet50().cuda()
    import transformers

    if name == "gpt2":
        return transformers.GPT2LMHeadModel(transformers.GPT2Config()).cuda()
    if name == "bert":
        return transformers.BertModel(transformers.BertConfig()).cuda()
    return transformers.DistilBertModel(transformers.DistilBertConfig()).cuda()


def pictures(batch, size):
    model = made("resnet50")
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randn(batch, 3, size, size, device="cuda")
    target = torch.randint(0, 1000, (batch,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):  # emulated there, so not float16
            loss = F.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()

    peaks("resnet50", batch, size, step)


def words(name, batch, size):
    model = made(name)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    ids = torch.randint(0, model.config.vocab_size - 1, (batch, size), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out = model(input_ids=ids, labels=ids) if name == "gpt2" else model(input_ids=ids)
            loss = out.loss if name == "gpt2" else out.last_hidden_state.float().pow(2).mean()
        loss.backward()  # `out` still holds the results
        optimizer.step()

    peaks(name, batch, size, step)


def peaks(name, batch, size, step):
    step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    step()
    torch.cuda.synchronize()
    print(name, batch, size, torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


def libraries():
    """their first calls, before anything is measured: what cuBLAS keeps stays"""
    a = torch.randn(256, 256, device="cuda")
    (a @ a).sum().item()
    convolution = torch.nn.Conv2d(3, 16, 3, padding=1).cuda()
    convolution(torch.randn(1, 3, 64, 64, device="cuda")).sum().backward()


libraries()
for name in ("gpt2", "distilbert", "bert"):
    for shape in ((4, 128), (8, 256)):
        torch.cuda.empty_cache()
        words(name, *shape)
for batch in (16, 32):
    torch.cuda.empty_cache()
    pictures(batch, 224)
