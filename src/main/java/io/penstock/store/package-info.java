// SPDX-License-Identifier: Apache-2.0
/**
 * Stores: data files, mapped read-only, validated at open, and sliced without copying.
 *
 * <p>A {@link io.penstock.store.Store} is a {@link io.penstock.store.TokenStore}, a
 * {@link io.penstock.store.TensorStore} or a {@link io.penstock.store.RecordStore}; {@code Store.open} detects the
 * format. Each format is read, and some are written, in its own sub-package.
 * Compressed data is decoded once, into a mapped copy ({@code io.publish}); {@code store.integrity} checks content.
 * Stores know nothing of training: the packages below decode values, cut windows, and make orders and batches.
 */
@NullMarked
package io.penstock.store;

import org.jspecify.annotations.NullMarked;
