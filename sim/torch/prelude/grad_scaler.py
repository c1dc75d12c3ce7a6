# module: torch
# defines: GradScaler
from torch.amp import GradScaler
