// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.memory.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.bytedeco.javacpp.Loader;

/**
 * C functions of libtorch ({@code torch/csrc/inductor/aoti_torch/c/shim.h}) that make and delete tensors over memory of
 * others, in the library that JavaCPP has loaded. JavaCPP's own {@code from_blob} does the same, but takes some 200
 * bytes of heap for the object that frees the tensor; a tensor that a batch frees needs none.
 */
final class Torch {

    private static final String CREATE = "aoti_torch_create_tensor_from_blob";
    private static final String DELETE = "aoti_torch_delete_tensor_object";
    private static final String DTYPE = "aoti_torch_dtype_";

    /** Neither blocks nor calls back, so that shapes may be in heap memory. */
    private static final MethodHandle CREATE_TENSOR = link(CREATE, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
            ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS), Linker.Option.critical(true));
    private static final MethodHandle DELETE_TENSOR = link(DELETE, FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final int CPU = number("aoti_torch_device_type_cpu");
    private static final int CUDA = number("aoti_torch_device_type_cuda");
    /** Torch's number of each dtype. */
    private static final int[] DTYPES = new int[DType.values().length];

    static {
        for (DType dtype : DType.values()) {
            DTYPES[dtype.ordinal()] = number(DTYPE + switch (dtype) {
                case U8 -> "uint8";
                case I8 -> "int8";
                case U16 -> "uint16";
                case I16 -> "int16";
                case U32 -> "uint32";
                case I32 -> "int32";
                case U64 -> "uint64";
                case I64 -> "int64";
                case BF16 -> "bfloat16";
                case F16 -> "float16";
                case F32 -> "float32";
                case F64 -> "float64";
                case BOOL -> "bool";
                case F8E4M3 -> "float8_e4m3fn";
                case F8E5M2 -> "float8_e5m2";
            });
        }
    }

    private Torch() {
    }

    /** What {@code c10::ScalarType} calls a dtype. */
    static int number(DType dtype) {
        return DTYPES[dtype.ordinal()];
    }

    /** The dtype that torch calls so, or an {@link IllegalArgumentException}. */
    static DType dtype(int number) {
        for (DType dtype : DType.values()) {
            if (number(dtype) == number) {
                return dtype;
            }
        }
        throw new IllegalArgumentException("torch's dtype " + number + " is no dtype of the engine");
    }

    /**
     * A tensor over memory that stays with its owner.
     *
     * @param sizes the dimensions, on the heap
     * @param strides in elements, as many, on the heap
     * @param gpu the GPU that the memory is on, or -1 for the host
     * @param result a place for one address, on the heap
     * @return an {@code at::Tensor *}, to be {@linkplain #delete deleted} by the caller
     */
    static long tensorOf(long address, MemorySegment sizes, MemorySegment strides, DType dtype, int gpu,
            MemorySegment result) {
        try {
            int status = (int) CREATE_TENSOR.invokeExact(address, sizes.byteSize() / Long.BYTES, sizes, strides, 0L,
                    DTYPES[dtype.ordinal()], gpu < 0 ? CPU : CUDA, Math.max(gpu, 0), result);
            check(status, CREATE);
            return result.get(JAVA_LONG, 0);
        } catch (Throwable t) {
            throw unchecked(t);
        }
    }

    static void delete(long tensor) {
        try {
            check((int) DELETE_TENSOR.invokeExact(tensor), DELETE);
        } catch (Throwable t) {
            throw unchecked(t);
        }
    }

    private static void check(int status, String function) {
        if (status != 0) {
            throw new IllegalStateException("torch: " + function + " failed with status " + status
                    + "; torch wrote the reason to standard error");
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle link(String function, FunctionDescriptor type, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(Library.find(function), type, options);
    }

    private static int number(String function) {
        try {
            return (int) link(function, FunctionDescriptor.of(JAVA_INT)).invokeExact();
        } catch (Throwable t) {
            throw unchecked(t);
        }
    }

    private static RuntimeException unchecked(Throwable t) {
        if (t instanceof Error error) {
            throw error;
        }
        return t instanceof RuntimeException known ? known : new IllegalStateException(t);
    }

    /** The library that JavaCPP has loaded, beside its own. */
    private static final class Library {

        private static final Path FILE = Path.of(Loader.load(org.bytedeco.pytorch.global.torch.class))
                .resolveSibling(System.mapLibraryName("torch_cpu"));

        @SuppressWarnings("restricted")
        private static final SymbolLookup SYMBOLS = SymbolLookup.libraryLookup(FILE, Arena.global());

        static MemorySegment find(String function) {
            return SYMBOLS.find(function).orElseThrow(() -> new UnsupportedOperationException(FILE + ": no function "
                    + function + ", expected PyTorch 2.3 or later"));
        }
    }
}
