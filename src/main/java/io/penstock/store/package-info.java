/**
 * Stores: somebody's files, mapped read-only, validated when they are opened, and sliced without copying.
 *
 * <p>A {@link io.penstock.store.Store} is a {@link io.penstock.store.TokenStore}, a
 * {@link io.penstock.store.TensorStore} or a {@link io.penstock.store.RecordStore}; {@code Store.open} recognises the
 * format. Each format is read, and some are written, in a sub-package io.penstock.store;

 {@code Store.open} recognises the
 * format. Each format is read, and some are written, in a sub-package io.penstock.store;

 {@code Store.open} recognises the
 * format. Each format is read, and some are written, in a sub-package io.penstock.store;

 {@code Store.open} recognises the
 * format. Each format is read, and some are written, in a sub-package of its own. What is stored compressed is decoded
 * once, into a copy that is mapped too ({@code io.spill}); {@code store.integrity} checks content. A
 * store knows nothing of training: decoding values, windows, order and batches are for the packages below.
 */
package io.penstock.store;
