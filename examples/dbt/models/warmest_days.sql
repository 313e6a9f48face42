select name, day, temperature
from {{ ref('readings') }} join {{ ref('stations') }} using (station)
qualify row_number() over (partition by station order by temperature desc, day) = 1
