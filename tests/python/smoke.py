"""A little of everything, for valgrind."""
import sys

import numpy as np

import weir

folder = sys.argv[1]
x = np.arange(2000.0).reshape(40, 50)
with weir.create(folder + "/a.npy", x.shape, "f8") as a:
    a[...] = x
    a[3] = 1
    a[[1, 1], 2] = 5
with weir.open(folder + "/a.npy", "r+") as a, weir.create(folder + "/b.npy", x.shape, "f4") as b:
    assert a[7, 3] == x[7, 3] and a[::-2, [1, 2]].shape == (20, 2) and a[[1, 2], [3, 4]].shape == (2,)
    out = np.zeros((50, 40), "i2").T
    a.read(out=out)
    a.iread(np.s_[2:9]).wait()
    a.iwrite(0, x[1]).wait()
    a.iread(5)
    for slab in weir.slabs([a], [b], memory="64K", halo=1):
        slab.outputs[0][...] = slab.inputs[0][slab.core]
    view = slab.inputs[0]
    weir.transpose(a, folder + "/t.npy", progress=lambda done, total: None).close()
    weir.reduce(a, axis=0)
    str(weir.plan(a, [np.s_[0], np.s_[1:3]]))
    for wrong in (99, "x", (0, 0, 0), [99]):
        try:
            a[wrong]
        except IndexError:
            pass
    try:
        weir.open(folder + "/none.npy")
    except FileNotFoundError as error:
        repr(error)
forgotten = weir.open(folder + "/a.npy")
request = forgotten.iread()
