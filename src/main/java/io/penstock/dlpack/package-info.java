// SPDX-License-Identifier: Apache-2.0
/**
 * Exchanges tensors with native code as DLPack: a C struct that describes a tensor's memory and layout, and a deleter
 * to call when it is no longer needed. PyTorch, JAX, NumPy, CuPy, ONNX Runtime and others support it.
 *
 * <pre>
 *   Batch.toDLPack ─▶ DLPackCapsule ──hand over──▶ consumer in native code ──deleter, any thread──▶ slot released
 *   producer in native code ──struct's address──▶ DLPackTensor ──close──▶ the producer's deleter
 * </pre>
 *
 * <p>Both forms of the struct are written and read: {@code DLManagedTensorVersioned} of DLPack 1, and the older
 * {@code DLManagedTensor}. Layouts, codes and rules follow {@code dlpack.h}, version 1.1 (<a
 * href="https://github.com/dmlc/dlpack">dmlc/dlpack</a>); a consumer's stream has the meaning of the Python array API's
 * {@code __dlpack__}.
 */
@NullMarked
package io.penstock.dlpack;

import org.jspecify.annotations.NullMarked;
