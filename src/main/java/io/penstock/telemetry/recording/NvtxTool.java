// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * An NVIDIA tool (Nsight Systems, CUPTI) that listens to ranges: named periods of a thread's time, shown beside kernels
 * and copies.
 *
 * <p>NVTX is a protocol rather than a library. A profiling tool names its library in the environment variable
 * {@value #VARIABLE}; the program loads it and receives the tool's functions. C programs get that code from a header
 * ({@code nvtxDetail/nvtxInit.h} and {@code nvtxTypes.h} of NVTX 3); this is its Java version. So no part of CUDA need
 * be installed, and without a tool no ranges are made.
 *
 * <pre>
 *   tool                                            this
 *   InitializeInjectionNvtx2(getExportTable) ◀───── called once
 *   getExportTable(CALLBACKS) ─────────────────────▶ { struct_size, GetModuleFunctionTable }
 *   GetModuleFunctionTable(CORE2, &amp;table, &amp;size) ──▶ table[id] points to a slot, one per function
 *   *table[id] = the tool's function
 * </pre>
 *
 * <p>Only functions of the module CORE2, which supports domains, are called; all other slots exist because a tool
 * expects them. In place of one that the tool leaves out, nothing is called.
 *
 * @param domain the domain of this library's ranges; NULL, the default domain, if the tool has no domains
 */
record NvtxTool(MemorySegment domain, MethodHandle registerString, MethodHandle push, MethodHandle pop,
        MethodHandle start, MethodHandle end) {

    /** The environment variable with the path of a tool's library. */
    static final String VARIABLE = "NVTX_INJECTION64_PATH";
    /** The domain of this library's ranges. */
    static final String DOMAIN = "penstock";

    private static final System.Logger LOG = System.getLogger(NvtxTool.class.getName());
    private static final int NVTX_VERSION = 3;

    /** Export tables, by id. */
    private static final int CALLBACKS = 1;
    private static final int VERSION_INFO = 3;

    private static final int CORE2 = 5;
    /** The number of functions of each module, by id, including the unused number 0. */
    private static final int[] MODULE_SIZES = {0, 16, 9, 15, 7, 16, 7};

    /** Functions of CORE2, by id. */
    private static final int RANGE_START = 2;
    private static final int RANGE_END = 3;
    private static final int RANGE_PUSH = 4;
    private static final int RANGE_POP = 5;
    private static final int REGISTER_STRING = 10;
    private static final int DOMAIN_CREATE = 12;

    private static final StructLayout CALLBACK_TABLE = MemoryLayout.structLayout(
            JAVA_LONG.withName("struct_size"), ADDRESS.withName("GetModuleFunctionTable"));
    private static final StructLayout VERSION_TABLE = MemoryLayout.structLayout(
            JAVA_LONG.withName("struct_size"), JAVA_INT.withName("version"), JAVA_INT.withName("reserved0"),
            ADDRESS.withName("SetInjectionNvtxVersion"));

    /** The tables that the tool fills; they live as long as the process, because the tool is never detached. */
    private static final class Tables {

        private final MemorySegment callbacks;
        private final MemorySegment versionInfo;
        private final MemorySegment[] slots = new MemorySegment[MODULE_SIZES.length];
        private final MemorySegment[] tables = new MemorySegment[MODULE_SIZES.length];

        @SuppressWarnings("restricted")
        Tables(Arena arena, Linker linker) throws ReflectiveOperationException {
            for (int module = 1; module < MODULE_SIZES.length; module++) {
                int size = MODULE_SIZES[module];
                slots[module] = arena.allocate(ADDRESS, size);
                tables[module] = arena.allocate(ADDRESS, size + 1);
                for (int id = 1; id < size; id++) {
                    tables[module].setAtIndex(ADDRESS, id, slots[module].asSlice(id * ADDRESS.byteSize()));
                }
            }
            callbacks = arena.allocate(CALLBACK_TABLE);
            callbacks.set(JAVA_LONG, 0, CALLBACK_TABLE.byteSize());
            callbacks.set(ADDRESS, offset(CALLBACK_TABLE, "GetModuleFunctionTable"), stub(arena, linker,
                    "moduleTable", FunctionDescriptor.of(JAVA_INT, JAVA_INT,
                            ADDRESS.withTargetLayout(ADDRESS), ADDRESS.withTargetLayout(JAVA_INT))));
            versionInfo = arena.allocate(VERSION_TABLE);
            versionInfo.set(JAVA_LONG, 0, VERSION_TABLE.byteSize());
            versionInfo.set(JAVA_INT, offset(VERSION_TABLE, "version"), NVTX_VERSION);
            versionInfo.set(ADDRESS, offset(VERSION_TABLE, "SetInjectionNvtxVersion"),
                    stub(arena, linker, "setVersion", FunctionDescriptor.ofVoid(JAVA_INT)));
        }

        private static long offset(StructLayout struct, String field) {
            return struct.byteOffset(PathElement.groupElement(field));
        }

        @SuppressWarnings("restricted")
        MemorySegment stub(Arena arena, Linker linker, String method, FunctionDescriptor function)
                throws ReflectiveOperationException {
            MethodType type = function.toMethodType();
            return linker.upcallStub(MethodHandles.lookup().bind(this, method, type), function, arena);
        }

        /** Called by the tool. */
        @SuppressWarnings("unused") // by its name
        MemorySegment exportTable(int id) {
            return id == CALLBACKS ? callbacks : id == VERSION_INFO ? versionInfo : MemorySegment.NULL;
        }

        /** Called by the tool, which may pass NULL for either result. */
        @SuppressWarnings("unused") // by its name
        int moduleTable(int module, MemorySegment table, MemorySegment size) {
            if (module < 1 || module >= MODULE_SIZES.length) {
                return 0;
            }
            if (size.address() != 0) {
                size.set(JAVA_INT, 0, MODULE_SIZES[module]);
            }
            if (table.address() != 0) {
                table.set(ADDRESS, 0, tables[module]);
            }
            return 1;
        }

        /** Called by the tool; only logged. */
        @SuppressWarnings("unused") // by its name
        void setVersion(int version) {
            LOG.log(System.Logger.Level.DEBUG, "the NVTX tool reports version {0}", version);
        }
    }

    /** The tool whose library is named; null if none is, or if it cannot be attached, as a warning then says. */
    static @Nullable NvtxTool attach(@Nullable String library) {
        if (library == null || library.isBlank() || ADDRESS.byteSize() != Long.BYTES) {
            return null;
        }
        try {
            return load(library);
        } catch (IllegalArgumentException | IllegalCallerException | UnsatisfiedLinkError e) {
            LOG.log(System.Logger.Level.WARNING, "no NVTX ranges: " + VARIABLE + "=" + library + ": " + e.getMessage());
            return null;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    @SuppressWarnings("restricted")
    private static NvtxTool load(String library) throws Throwable {
        Arena arena = Arena.global();
        Linker linker = Linker.nativeLinker();
        MemorySegment initialize = SymbolLookup.libraryLookup(library, arena).find("InitializeInjectionNvtx2")
                .orElseThrow(() -> new IllegalArgumentException("it has no function InitializeInjectionNvtx2"));
        var tables = new Tables(arena, linker);
        int attached = (int) linker.downcallHandle(initialize, FunctionDescriptor.of(JAVA_INT, ADDRESS)).invokeExact(
                tables.stub(arena, linker, "exportTable", FunctionDescriptor.of(ADDRESS, JAVA_INT)));
        if (attached == 0) {
            throw new IllegalArgumentException("the tool refused");
        }
        MemorySegment functions = tables.slots[CORE2];
        MethodHandle create = bind(linker, functions, DOMAIN_CREATE, FunctionDescriptor.of(ADDRESS, ADDRESS));
        @Nullable MemorySegment domain = (MemorySegment) create.invokeExact(arena.allocateFrom(DOMAIN));
        return new NvtxTool(domain == null ? MemorySegment.NULL : domain,
                bind(linker, functions, REGISTER_STRING, FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS)),
                bind(linker, functions, RANGE_PUSH, FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS)),
                bind(linker, functions, RANGE_POP, FunctionDescriptor.of(JAVA_INT, ADDRESS)),
                bind(linker, functions, RANGE_START, FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS)),
                bind(linker, functions, RANGE_END, FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG)));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle bind(Linker linker, MemorySegment functions, int id, FunctionDescriptor function) {
        MemorySegment address = functions.getAtIndex(ValueLayout.ADDRESS, id);
        return address.address() == 0 ? MethodHandles.empty(function.toMethodType())
                : linker.downcallHandle(address, function);
    }
}
