// SPDX-License-Identifier: Apache-2.0
/**
 * Decoders convert the stored bytes of a record's value to a batch's tensor. A column's encoding or the user chooses
 * its decoder.
 */
@NullMarked
package io.penstock.decode;

import org.jspecify.annotations.NullMarked;
