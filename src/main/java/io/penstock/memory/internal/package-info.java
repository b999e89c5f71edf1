/** What the engine's packages share about memory. Not exported. */
@NullMarked
package io.penstock.memory.internal;

import org.jspecify.annotations.NullMarked;
