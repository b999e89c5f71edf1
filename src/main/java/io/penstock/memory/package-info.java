/**
 * Native memory as the engine sees it: dtypes, tensors and slabs.
 *
 * <p>This package depends on the JDK alone and knows nothing of stores, datasets or training.
 */
@NullMarked
package io.penstock.memory;

import org.jspecify.annotations.NullMarked;
