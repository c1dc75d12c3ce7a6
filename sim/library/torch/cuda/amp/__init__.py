from torch.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from torch.cuda.amp.grad_scaler import GradScaler
