/**
 * Native memory as the engine sees it: dtypes, tensors, slabs, mapped files and the advice the OS takes about them.
 *
 * <p>This package depends on the JDK alone and knows nothing of stores, datasets or training.
 */
package io.penstock.memory;
