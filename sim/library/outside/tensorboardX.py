from torch.utils.tensorboard import SummaryWriter
