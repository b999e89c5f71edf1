// SPDX-License-Identifier: Apache-2.0
/** Makes a site of plain HTML of the project's documents; {@link io.penstock.site.Site} is the program. */
@NullMarked
package io.penstock.site;

import org.jspecify.annotations.NullMarked;
