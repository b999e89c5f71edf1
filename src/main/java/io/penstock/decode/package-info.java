/**
 * Decoders: from the stored bytes of a record's value to the tensor that a batch gets. Which one a column gets follows
 * from its encoding, or from the user.
 */
@NullMarked
package io.penstock.decode;

import org.jspecify.annotations.NullMarked;
