// SPDX-License-Identifier: Apache-2.0
/**
 * Decoders convert the stored bytes of a record's value to a batch's tensor. A column's decoder follows from its
 * encoding or from the user.
 */
@NullMarked
package io.penstock.decode;

import org.jspecify.annotations.NullMarked;
