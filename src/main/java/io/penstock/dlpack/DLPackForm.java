package io.penstock.dlpack;

/** Which of DLPack's two structs a tensor is exchanged as. Nothing in the memory tells them apart: both sides agree. */
public enum DLPackForm {
    /** {@code DLManagedTensorVersioned}, since DLPack 1.0; Python names its capsules {@code dltensor_versioned}. */
    VERSIONED,
    /** {@code DLManagedTensor}, which has no version and no flags; Python names its capsules {@code dltensor}. */
    UNVERSIONED
}
