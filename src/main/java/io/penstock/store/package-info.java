/**
 * Stores: files of tokens and tensors, mapped read-only, validated when they are opened, and sliced without copying.
 *
 * <p>{@link io.penstock.store.TokenStore} and {@link io.penstock.store.TensorStore} are what the engine reads; their
 * static {@code open} methods recognise the format. Each format's layout is read and written in a sub-package of its
 * own. A store knows nothing of training: windows, order and batches are for the packages below.
 */
package io.penstock.store;
