// SPDX-License-Identifier: Apache-2.0
/** Exports metrics to Micrometer. Only this package needs the library {@code micrometer-core}. */
@NullMarked
package io.penstock.diagnose.micrometer;

import org.jspecify.annotations.NullMarked;
