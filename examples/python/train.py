"""Training steps of PyTorch with a kernel of cutune's: RMSNorm is cutune's forward, and backward what is written here.

    python3 train.py
    cutune run --wanted             tunes what it asked for; the next run takes that up
"""

import torch

import cutune


class RMSNorm(torch.autograd.Function):
    """x / sqrt(mean(x^2) + eps) * w, by rows. A kernel has no derivative of its own."""

    @staticmethod
    def forward(ctx, x, w, eps):
        ctx.save_for_backward(x, w)
        ctx.eps = eps
        return cutune.rmsnorm(x, w, eps)

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        r = torch.rsqrt(x.square().mean(1, keepdim=True) + ctx.eps)
        g = dy * w
        return r * (g - x * r * r * (g * x).mean(1, keepdim=True)), (dy * x * r).sum(0), None


class Net(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.up, self.down = torch.nn.Linear(32, inner), torch.nn.Linear(inner, 1)
        self.weight = torch.nn.Parameter(torch.ones(inner))

    def forward(self, x):
        return self.down(RMSNorm.apply(self.up(x), self.weight, 1e-5).relu())


def step(net, optimizer, x, wanted):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), wanted)
    loss.backward()
    optimizer.step()
    return loss.item()


torch.manual_seed(1)
cutune.open(capture=True)  # what was not tuned is written down
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(512, 32, device=device)
wanted = x.square().sum(1, keepdim=True) / 32
net = Net(1000).to(device)
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
losses = [step(net, optimizer, x, wanted) for _ in range(200)]
print("rmsnorm by", cutune.why("rmsnorm", net.up(x).detach(), net.weight.detach(), 1e-5))
print(f"loss {losses[0]:.3f}, after {len(losses)} steps {losses[-1]:.3f}")

given = [torch.randn(n, dtype=torch.float32, device=device, requires_grad=True) for n in ((7, 99), (99,))]
for ours, theirs in zip(*(torch.autograd.grad(f(*given).sin().sum(), given) for f in (
        lambda x, w: RMSNorm.apply(x, w, 1e-5), lambda x, w: torch.nn.functional.rms_norm(x, (99,), w, 1e-5)))):
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-3)
