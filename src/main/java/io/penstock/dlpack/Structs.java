// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.penstock.dlpack.DLPackCapsule.DLPackForm;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;

/**
 * The structs of {@code dlpack.h}, version 1.1.
 *
 * <pre>
 *   DLTensor, 48 bytes                                DLManagedTensorVersioned, 80 bytes
 *   0    8            16    20     24     32       40      0              8    16       24     32
 *   data type id      ndim  dtype  shape  strides  offset  major minor    ctx  deleter  flags  dl_tensor
 *                           code bits lanes
 *                                                     DLManagedTensor, 64 bytes
 *                                                     0          48   56
 *                                                     dl_tensor  ctx  deleter
 * </pre>
 */
final class Structs {

    static final int MAJOR = 1;
    static final int MINOR = 1;
    static final long READ_ONLY = 1;

    static final StructLayout TENSOR = MemoryLayout.structLayout(
            ADDRESS.withName("data"),
            JAVA_INT.withName("device_type"),
            JAVA_INT.withName("device_id"),
            JAVA_INT.withName("ndim"),
            JAVA_BYTE.withName("code"),
            JAVA_BYTE.withName("bits"),
            JAVA_SHORT.withName("lanes"),
            ADDRESS.withName("shape"),
            ADDRESS.withName("strides"),
            JAVA_LONG.withName("byte_offset")).withName("DLTensor");

    static final StructLayout MANAGED = MemoryLayout.structLayout(
            TENSOR.withName("dl_tensor"),
            ADDRESS.withName("manager_ctx"),
            ADDRESS.withName("deleter")).withName("DLManagedTensor");

    static final StructLayout VERSIONED = MemoryLayout.structLayout(
            JAVA_INT.withName("major"),
            JAVA_INT.withName("minor"),
            ADDRESS.withName("manager_ctx"),
            ADDRESS.withName("deleter"),
            JAVA_LONG.withName("flags"),
            TENSOR.withName("dl_tensor")).withName("DLManagedTensorVersioned");

    // In a DLTensor.
    static final long DATA = offset(TENSOR, "data");
    static final long DEVICE_TYPE = offset(TENSOR, "device_type");
    static final long DEVICE_ID = offset(TENSOR, "device_id");
    static final long NDIM = offset(TENSOR, "ndim");
    static final long CODE = offset(TENSOR, "code");
    static final long BITS = offset(TENSOR, "bits");
    static final long LANES = offset(TENSOR, "lanes");
    static final long SHAPE = offset(TENSOR, "shape");
    static final long STRIDES = offset(TENSOR, "strides");
    static final long BYTE_OFFSET = offset(TENSOR, "byte_offset");

    // In a DLManagedTensorVersioned alone.
    static final long MAJOR_VERSION = offset(VERSIONED, "major");
    static final long MINOR_VERSION = offset(VERSIONED, "minor");
    static final long FLAGS = offset(VERSIONED, "flags");

    static StructLayout of(DLPackForm form) {
        return form == DLPackForm.VERSIONED ? VERSIONED : MANAGED;
    }

    /** Returns the offset of the {@code DLTensor} in a managed tensor. */
    static long tensor(DLPackForm form) {
        return offset(of(form), "dl_tensor");
    }

    static long deleter(DLPackForm form) {
        return offset(of(form), "deleter");
    }

    static long context(DLPackForm form) {
        return offset(of(form), "manager_ctx");
    }

    private static long offset(StructLayout struct, String field) {
        return struct.byteOffset(groupElement(field));
    }
}
