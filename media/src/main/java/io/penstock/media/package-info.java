// SPDX-License-Identifier: Apache-2.0
/** Sound and video as samples: {@link io.penstock.media.Clips} makes clips of the files of a store. */
@NullMarked
package io.penstock.media;

import org.jspecify.annotations.NullMarked;
