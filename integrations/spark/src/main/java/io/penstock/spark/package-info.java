// SPDX-License-Identifier: Apache-2.0
/** Stores to train from, made on a Spark cluster of whatever Spark reads. */
@NullMarked
package io.penstock.spark;

import org.jspecify.annotations.NullMarked;
