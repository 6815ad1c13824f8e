"""What is asked of libraries and driver about devices, by stand-ins for both, since there need be none here."""

import contextlib
import sys
import types
import unittest
from unittest import mock

from cutune import _frameworks


class Devices(unittest.TestCase):
    def test_cupy_is_asked_about_the_device_of_the_arrays(self):
        current = [0]

        @contextlib.contextmanager
        def device(id):
            current.append(id)
            yield
            current.pop()

        cupy = types.ModuleType("cupy")
        cupy.cuda = types.SimpleNamespace(Device=device, get_current_stream=lambda id=-1: types.SimpleNamespace(ptr=100 + id))
        cupy.empty = lambda shape, dtype: types.SimpleNamespace(shape=shape, data=types.SimpleNamespace(ptr=200 + current[-1]))
        with mock.patch.dict(sys.modules, cupy=cupy):
            helper = _frameworks._CuPy()
            self.assertEqual(helper.stream(1), 101)
            self.assertEqual(helper.empty((2, 3), "f32", 2, 1)[1], 201)

    def test_the_driver_is_asked_where_an_array_does_not_say_its_device(self):
        class Array:
            __cuda_array_interface__ = {"typestr": "<f4", "shape": (2,), "data": (4096, False)}

        class Driver:
            status = 0

            def cuPointerGetAttribute(self, out, attribute, pointer):
                self.asked = attribute, pointer.value
                out._obj.value = 3
                return self.status

        driver, x = Driver(), Array()
        with mock.patch("ctypes.CDLL", lambda name: driver):
            self.assertEqual(_frameworks._describe(x, "op", "x")[:3], (4096, 2, 3))
            self.assertEqual(driver.asked, (9, 4096))
            x.device = types.SimpleNamespace(id=1)
            self.assertEqual(_frameworks._describe(x, "op", "x")[2], 1)
            x.device, driver.status = "gpu", 1
            with self.assertRaisesRegex(TypeError, "op: the array interface of x is malformed: .* on no CUDA device"):
                _frameworks._describe(x, "op", "x")


if __name__ == "__main__":
    unittest.main()
