// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

/** Which of DLPack's two structs is exchanged. The memory does not tell them apart: both sides must agree. */
public enum DLPackForm {
    /** {@code DLManagedTensorVersioned}, since DLPack 1.0; Python names its capsules {@code dltensor_versioned}. */
    VERSIONED,
    /** {@code DLManagedTensor}, without version and flags; Python names its capsules {@code dltensor}. */
    UNVERSIONED
}
