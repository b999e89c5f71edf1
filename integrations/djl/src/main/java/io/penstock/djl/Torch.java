// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import ai.djl.pytorch.jni.LibUtils;
import io.penstock.memory.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;

/**
 * C functions of libtorch ({@code torch/csrc/inductor/aoti_torch/c/shim.h}) that make tensors over memory of others.
 * They are in the library that DJL has loaded, take every dtype since PyTorch 2.3, and report errors by a status
 * instead of ending the process. A tensor is an {@code at::Tensor *}, as in DJL.
 */
final class Torch {

    private static final String CREATE = "aoti_torch_create_tensor_from_blob";
    private static final String COPY = "aoti_torch_copy_";
    private static final String DELETE = "aoti_torch_delete_tensor_object";
    private static final String DTYPE = "aoti_torch_dtype_";

    private Torch() {
    }

    /**
     * Checks that the functions are there. DJL's PyTorch engine must be loaded.
     *
     * @throws UnsupportedOperationException if they are not
     */
    static void require() {
        Library.require();
    }

    /**
     * A tensor over memory that stays with its owner.
     *
     * @param sizes the dimensions, on the heap
     * @param strides in elements, as many, on the heap
     * @param gpu the GPU that the memory is on, or -1 for the host
     * @param result a place for one address, on the heap
     * @return the tensor, to be {@linkplain #delete deleted} by the caller or by an NDArray
     */
    static long tensorOf(long address, MemorySegment sizes, MemorySegment strides, DType dtype, int gpu,
            MemorySegment result) {
        try {
            int status = (int) Functions.CREATE_TENSOR.invokeExact(address, sizes.byteSize() / Long.BYTES, sizes,
                    strides, 0L, Functions.DTYPES[dtype.ordinal()], gpu < 0 ? Functions.CPU : Functions.CUDA,
                    Math.max(gpu, 0), result);
            check(status, CREATE);
            return result.get(JAVA_LONG, 0);
        } catch (Throwable t) {
            throw unchecked(t);
        }
    }

    /** Copies values from one tensor to another of the same shape, and converts them to its dtype. */
    static void copy(long target, long source) {
        try {
            check((int) Functions.COPY_TENSOR.invokeExact(target, source, 0), COPY);
        } catch (Throwable t) {
            throw unchecked(t);
        }
    }

    static void delete(long tensor) {
        try {
            check((int) Functions.DELETE_TENSOR.invokeExact(tensor), DELETE);
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

    private static RuntimeException unchecked(Throwable t) {
        if (t instanceof Error error) {
            throw error;
        }
        return t instanceof RuntimeException known ? known : new IllegalStateException(t);
    }

    /** The library that DJL has loaded. */
    private static final class Library {

        private static final Path FILE = Path.of(LibUtils.getLibtorchPath(), System.mapLibraryName("torch_cpu"));

        @SuppressWarnings("restricted")
        private static final SymbolLookup SYMBOLS = SymbolLookup.libraryLookup(FILE, Arena.global());

        static void require() {
            for (String function : List.of(CREATE, COPY, DELETE, DTYPE + "uint16")) {
                if (SYMBOLS.find(function).isEmpty()) {
                    throw new UnsupportedOperationException(FILE + ": no function " + function
                            + ", expected PyTorch 2.3 or later");
                }
            }
        }
    }

    /** Linked once, as constants, so that calls cost nanoseconds. */
    private static final class Functions {

        /** Neither blocks nor calls back, so that shapes may be in heap memory. */
        static final MethodHandle CREATE_TENSOR = link(CREATE, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
                ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS), Linker.Option.critical(true));
        static final MethodHandle COPY_TENSOR = link(COPY, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
                JAVA_INT));
        static final MethodHandle DELETE_TENSOR = link(DELETE, FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
        static final int CPU = number("aoti_torch_device_type_cpu");
        static final int CUDA = number("aoti_torch_device_type_cuda");
        /** Torch's number of each dtype. */
        static final int[] DTYPES = new int[DType.values().length];

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

        @SuppressWarnings("restricted")
        private static MethodHandle link(String function, FunctionDescriptor type, Linker.Option... options) {
            return Linker.nativeLinker().downcallHandle(Library.SYMBOLS.findOrThrow(function), type, options);
        }

        private static int number(String function) {
            try {
                return (int) link(function, FunctionDescriptor.of(JAVA_INT)).invokeExact();
            } catch (Throwable t) {
                throw unchecked(t);
            }
        }
    }
}
